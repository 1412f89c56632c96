import Quire
import TestSupport
import Testing

/// Predicates over sets of options, and over lists of values that are written by their names alone.
@Suite(.fewAtOnce) struct PredicateOptionSetTests {
  struct Marks: OptionSet, Codable, Sendable {
    let rawValue: Int
    static let torn = Marks(rawValue: 1)
    static let signed = Marks(rawValue: 2)
  }
  enum Genre: String, Codable { case novel, poem, essay }

  @Model final class Copy {
    var number: Int
    var marks: Marks
    var later: Marks?
    var genres: [Genre]
    var kinds: Set<Genre>
    init(_ number: Int, _ marks: Marks, _ later: Marks?, _ genres: [Genre]) {
      (self.number, self.marks, self.later, self.genres) = (number, marks, later, genres)
      kinds = Set(genres)
    }
  }

  private let copies = [
    Copy(0, [], nil, []), Copy(1, .torn, .torn, [.novel]), Copy(2, .signed, [], [.novel, .poem]),
    Copy(3, [.torn, .signed], [.torn, .signed], [.essay, .novel, .poem]), Copy(4, Marks(rawValue: -1), nil, [.poem]),
  ]

  private func expect(
    _ predicate: Predicate<Copy>, _ numbers: [Int], at location: SourceLocation = #_sourceLocation
  ) throws {
    let container = try ModelContainer(for: Copy.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let unsaved = ModelContext(container)
    for copy in copies { unsaved.insert(Copy(copy.number, copy.marks, copy.later, copy.genres)) }
    let descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.number)])
    #expect(try copies.filter { try predicate.evaluate($0) }.map(\.number) == numbers, sourceLocation: location)
    #expect(try unsaved.fetch(descriptor).map(\.number) == numbers, "unsaved", sourceLocation: location)
    try unsaved.save()
    #expect(try ModelContext(container).fetch(descriptor).map(\.number) == numbers, sourceLocation: location)
  }

  @Test func `contains of options asks for all of them, by name, captured and in an optional`() throws {
    let wanted: Marks = [.torn, .signed]
    try expect(#Predicate { $0.marks.contains(.torn) }, [1, 3, 4])
    try expect(#Predicate { $0.marks.contains(Marks.torn) }, [1, 3, 4])
    try expect(#Predicate { $0.marks.contains([.torn, .signed]) }, [3, 4])
    try expect(#Predicate { $0.marks.contains(wanted) }, [3, 4])
    try expect(#Predicate { !$0.marks.contains(wanted) && $0.number > 0 }, [1, 2])
    try expect(#Predicate { wanted.contains($0.marks) }, [0, 1, 2, 3])
    try expect(#Predicate { $0.later?.contains(.torn) == true }, [1, 3])
    try expect(#Predicate { $0.later?.contains(wanted) ?? true }, [0, 3, 4])
    try expect(#Predicate { $0.later != nil && $0.later!.contains(.signed) }, [3])
    try expect(#Predicate { $0.marks.isEmpty || $0.marks == wanted }, [0, 3])
    try expect(#Predicate { !$0.marks.isDisjoint(with: .signed) }, [2, 3, 4])
  }

  @Test func `contains of values by their names alone finds them in lists and sets`() throws {
    try expect(#Predicate { $0.genres.contains(.novel) }, [1, 2, 3])
    try expect(#Predicate { $0.kinds.contains(.poem) && !$0.genres.contains(.essay) }, [2, 4])
    try expect(#Predicate { $0.genres.contains([.novel, .poem]) }, [2, 3])
  }
}

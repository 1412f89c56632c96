import Foundation
import TestSupport
import Testing

/// Models that are called as types of Quire, Foundation and Swift are.
@Suite(.enabled(if: Compiler.shared != nil, "needs the toolchain's swiftc beside the build"), .fewCompilers)
struct NameTests {
  /// Every public type, as Documentation/Types.md lists them.
  private static func ours() throws -> [String] {
    let root = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    let page = try String(contentsOf: root.appending(path: "Documentation/Types.md"), encoding: .utf8)
    return page.split(separator: "\n").compactMap { line in
      line.firstMatch(of: /^\| `(\w+)` \|/).map { String($0.1) }
    }
  }

  /// What public programs call their models, and Foundation or Swift a type; the last are our modules' and their insides'.
  private static let theirs = """
    Measurement Unit Operation Process Thread Timer Notification Bundle Progress Port Host Stream Formatter Scanner \
    Calendar Locale TimeZone Predicate Expression SortDescriptor SortOrder Dimension Pipe Lock OperationQueue RunLoop \
    Character Result Task Actor Set Array Dictionary Optional Error Sequence Collection Range Mirror Duration Instant \
    Clock Regex Slice Identifiable Observable Hashable KeyPath \
    Moment Value Link Record Transaction Subscription Connection Owner Row Column Query Statement Commit Change Entity \
    Property Item Category Tag Event Order Session Entry Account Document Folder Message Channel Slot Form Context Model \
    Store Group Section List Image Note Text Step Watch Table Key Index Token Settings Listener
    """.split(separator: " ").map(String.init)

  /// A small model for each name: what is written for a property goes with its form, of which these are the three.
  private static func model(_ name: String) -> String {
    """
    @Model final class \(name) {
      var title: Swift.String = ""
      var kind: Genre?
      var other: \(name)?
      init() {}
    }

    """
  }

  @Test func `a model may be called as any public type of Quire, Foundation and Swift is, beside import Quire`()
    async throws
  {
    var seen: Set<String> = []
    let names = (try Self.ours() + Self.theirs).filter { seen.insert($0).inserted }
    #expect(names.count > 180)
    let source = "import Quire\n" + names.map(Self.model).joined() + Self.uses
    let found = try await Compiler.shared!.check([source])[0]
    #expect(found.isEmpty, "\(found.prefix(5))")
  }

  /// All that macros write, where the names stand for those models.
  private static let uses = """
    enum Genre: Swift.String, Swift.Codable { case novel }
    @Model final class Whole {
      #Index<Whole>([\\.title], [\\.count])
      #Unique<Whole>([\\.title, \\.count])
      #FullText<Whole>([\\.title])
      var title = ""
      var count = 3
      var task: Task?
      @Relationship(deleteRule: .cascade, inverse: \\Whole.parent) var parts: [Whole] = []
      var parent: Whole?
      @Attribute(.unique) var words: [Genre] = []
      @Transient var isOpen = false
      var seen: Genre? { didSet { isOpen = true } }
      let number: Swift.Int
      init(number: Swift.Int) { self.number = number }
    }
    extension Quire.ModelContext {
      func everything() throws {
        let values = #Predicate<Value> { $0.title == "x" && $0.other?.title == "y" }
        let predicates = #Predicate<Predicate> { p in p.title.isEmpty && p.kind == .novel }
        let wholes = #Predicate<Whole> { (whole: Whole) in whole.parts.contains { $0.count + 1 > 4 } }
        let tens = #Expression<Whole, Swift.Int> { ($0.parent?.count ?? 0) / 10 }
        _ = try fetch(Quire.FetchDescriptor<Value>(predicate: values))
        _ = try fetchCount(Quire.FetchDescriptor(predicate: predicates))
        try delete(model: Whole.self, where: wholes)
        _ = tens
      }
    }
    @ModelActor actor Worker { func work() throws { try modelContext.everything() } }
    """
}

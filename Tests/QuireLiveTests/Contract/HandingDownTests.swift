import Quire
import Testing

@testable import QuireLive

extension ContractTests {
  /// The observation contract, F, where somebody changes what is handed down or edited. What is looked up and what refuses
  /// a value are in EnvironmentTests and BindingTests.
  @MainActor @Suite struct HandingDownTests {
    private enum PageSize: ModelEnvironmentKey { static let defaultValue = 20 }

    let library: QuireLibrary
    var context: ModelContext { library.context }

    init() throws { library = try QuireLibrary() }

    /// A reader some layers below, with no parameter for what it reads.
    private func reader(_ depth: Int, _ hear: @escaping (String) -> Void) -> ObservationToken {
      if depth > 0 { return reader(depth - 1, hear) }
      return observe { hear((try? environment[Novel.self].title) ?? "none") }
    }

    @Test(arguments: allSources)
    func `F1: a reader below follows what was handed down, whoever changes it`(source: any ChangeSource) async throws {
      var seen: [String] = []
      let below = withEnvironment(library.eden) { reader(5) { seen.append($0) } }
      try await library.make(source, .title(1, "Eden II"))
      try await library.make(source, .title(2, "unread"))
      #expect(seen == ["Eden", "Eden II"] && below.runs == 2)
    }

    @Test(arguments: allSources)
    func `F3: a reader follows the nearer of two, and one outside the outer`(source: any ChangeSource) async throws {
      var (near, far) = ([String](), [String]())
      let readers = withEnvironment(library.eden) {
        let inner = withEnvironment(library.volume(2)) { reader(1) { near.append($0) } }
        return [inner, reader(1) { far.append($0) }]
      }
      try await library.make(source, .title(1, "Eden II"))
      #expect(near == ["Solaris"] && far == ["Eden", "Eden II"])
      try await library.make(source, .title(2, "Solaris II"))
      #expect(near == ["Solaris", "Solaris II"] && readers.map(\.runs) == [2, 2])
    }

    @Test(arguments: allSources)
    func `F4: editing is plain assignment, of what somebody has just written too`(source: any ChangeSource) async throws
    {
      let eden = library.eden
      try await library.make(source, .isIn(1, false))
      eden.isIn.toggle()
      #expect(eden.isIn && eden.hasChanges)
      try context.save()
      #expect(try library.store.query("SELECT is_in FROM novel WHERE id = 1").map(\.values) == [[1]])
    }

    @Test(arguments: allSources)
    func `F5: a binding follows what others write, and is refused what clashes with it`(source: any ChangeSource)
      async throws
    {
      try library.store.execute("CREATE UNIQUE INDEX by_title ON novel (title)")
      @ModelBindable var eden = library.eden
      let title = $eden.title
      var seen: [String] = []
      let reader = observe { seen.append(title.wrappedValue) }
      try await library.make(source, .title(1, "Eden II"), .title(2, "taken"))
      #expect(seen == ["Eden", "Eden II"])
      #expect(throws: (any Error).self) { try title.set("taken") }
      title.wrappedValue = "taken"
      #expect(eden.title == "Eden II")
      #expect(throws: ModelError.self) { try context.save() }
      try title.set("Solaris")
      try context.save()
      await library.turn()
      #expect(seen == ["Eden", "Eden II", "Solaris"] && reader.runs == 3)
      #expect(
        try library.store.query("SELECT title FROM novel WHERE id < 3").map(\.values) == [["Solaris"], ["taken"]])
    }

    @Test(arguments: allSources)
    func `F6: a reader runs again in the environment it was made in, whoever made the change`(source: any ChangeSource)
      async throws
    {
      let (eden, lem, guin) = (library.eden, library.writer(1), library.writer(2))
      var seen: [String] = []
      let reader = withEnvironment(lem) {
        withEnvironment(PageSize.self, 7) {
          observe { seen.append("\(eden.title) \(environment[Novelist?.self] === lem) \(environment[PageSize.self])") }
        }
      }
      try withEnvironment(guin) {
        try withEnvironment(PageSize.self, 99) {
          try source.make([.title(1, "Eden II")], in: library)
          try context.refresh()
        }
      }
      await library.turn()
      #expect(seen == ["Eden true 7", "Eden II true 7"] && reader.runs == 2)
    }
  }
}

import Foundation
import Quire
import Testing

@Model(table: "archive") final class Archive {
  @Attribute(.unique) var name: String
  @Relationship(deleteRule: .cascade, inverse: \Letter.archive) var letters: [Letter] = []
  init(name: String) { self.name = name }
}

@Model(table: "letter") final class Letter {
  #Index<Letter>([\.year])
  #FullText<Letter>([\.text])
  var text: String
  var year: Int
  var archive: Archive?
  init(text: String, year: Int) {
    self.text = text
    self.year = year
  }
}

/// The letter of the program's next version.
@Model(table: "letter") final class SignedLetter {
  #Index<SignedLetter>([\.year])
  #FullText<SignedLetter>([\.text])
  var text: String
  var year: Int
  var sender: String?
  var archive: SignedArchive?
  init() { (text, year) = ("", 0) }
}

@Model(table: "archive") final class SignedArchive {
  @Attribute(.unique) var name: String
  @Relationship(deleteRule: .cascade, inverse: \SignedLetter.archive) var letters: [SignedLetter] = []
  init() { name = "" }
}

/// A file that a `ModelContainer` has made goes on with migrations.
@MainActor @Suite struct ContainerFileTests {
  private let quire: Scratch
  private var file: URL { quire.folder.appending(path: "letters.db") }

  init() throws { quire = try Scratch() }

  @Test(arguments: [false, true])
  func `its tables become the first migration, which is recorded, and the next one runs`(hasLog: Bool) throws {
    let configuration = ModelConfiguration(url: file, changeLog: hasLog ? .on() : .asInFile)
    let store = try ModelContainer(for: Archive.self, Letter.self, configurations: configuration)
    let context = ModelContext(store)
    let archive = Archive(name: "city")
    archive.letters = [Letter(text: "Dear Anna", year: 1911)]
    context.insert(archive)
    try context.save()
    try store.close()

    #expect(try quire("migrate", "new", "as it was", "--from", "db", "-d", "letters.db").status == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: quire.folder.appending(path: "Migrations").path)
    let version = try #require(names.first { $0.hasSuffix("_as_it_was.sql") }).prefix { $0 != "_" }
    let recorded = try quire("migrate", "baseline", String(version), "letters.db")
    #expect(recorded.status == 0, "\(recorded)")
    #expect(try quire("migrate", "diff", "-d", "letters.db", "--exit-code").status == 0)

    let sql = "ALTER TABLE letter ADD COLUMN sender TEXT;\n-- migrate: undo\nALTER TABLE letter DROP COLUMN sender;\n"
    try Data(sql.utf8).write(to: quire.folder.appending(path: "Migrations/29991231000000_add_sender.sql"))
    let applied = try quire("migrate", "apply", "letters.db", "--yes")
    #expect(applied.status == 0, "\(applied)")
    let checked = try quire("migrate", "check", "letters.db")
    #expect(checked.status == 0, "\(checked)")

    let next = try ModelContainer(
      for: SignedArchive.self, SignedLetter.self, configurations: ModelConfiguration(url: file))
    let letters = try ModelContext(next).fetch(SignedLetter.search("anna"))
    #expect(letters.map(\.text) == ["Dear Anna"] && letters[0].sender == nil && letters[0].archive?.name == "city")
    try next.close()
  }
}

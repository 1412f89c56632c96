import Foundation
import QuireMigration
import QuireSQLite
import Testing

@testable import QuireTool

private let tool = Tool("quire", version: "0.1.0", "keeps models", commands: [.migrate])

/// A folder of its own with one migration, or with an empty folder for them.
final class Folder {
  let path = FileManager.default.temporaryDirectory.path + "/quire-tool-\(UUID().uuidString)"
  var migrations: String { path + "/M" }
  var database: String { path + "/library.db" }

  init(isEmpty: Bool = false) throws {
    try FileManager.default.createDirectory(atPath: migrations, withIntermediateDirectories: true)
    if isEmpty { return }
    try write("-- make a\nCREATE TABLE a (b);\n-- migrate: undo\nDROP TABLE a;\n", as: "20260101000000_a.sql")
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ text: String, as name: String) throws {
    try Data(text.utf8).write(to: URL(filePath: migrations + "/" + name))
  }
}

/// Refusals have one status in all commands.
@Test func `what a shared store refuses has the status of a refusal`() {
  for error in [
    MigrationError.database(.shared(path: "x.db")), .notShareable(file: "1_a.sql"), .stillUsed([], file: "1_a.sql"),
  ] {
    #expect(error.exitStatus == .refused)
  }
  let told = NodeTarget.explained(DatabaseError.shared(path: "x.db")) as? CommandFailure
  #expect(told?.exitStatus == .refused)
}

@Suite struct MigrateTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  private func migrate(_ words: String..., environment: [String: String] = [:]) async -> Ran {
    let recorder = Recorder()
    var environment = environment
    environment["QUIRE_MIGRATIONS"] = folder.migrations
    let status = await tool.run(
      ["migrate"] + words, terminal: recorder.terminal(), environment: Environment(environment))
    return Ran(status: status, output: recorder.output, error: recorder.error)
  }

  @Test func `a new database is made only when asked, and then shows what is applied`() async throws {
    let typo = await migrate("apply", folder.database)
    #expect(typo.status == 2)
    #expect(
      typo.error
        == "error: no database at \(folder.database)\nTo create one:  quire migrate apply --create \(folder.database)\n"
    )
    #expect(!FileManager.default.fileExists(atPath: folder.database))
    let made = await migrate("apply", "--create", folder.database)
    #expect(made.status == 0 && made.error.isEmpty)
    #expect(made.output.hasPrefix("  ✓ 20260101000000  make a  "))
    #expect(
      made.output.hasSuffix(" ms\n1 applied · schema 20260101000000\nUndo: quire migrate undo \(folder.database)\n"))
    #expect(await migrate("apply", folder.database).output == "nothing to do · schema 20260101000000\n")
    let status = await migrate(folder.database)
    #expect(status.status == 0)
    #expect(status.output.hasPrefix("\(folder.database) · nothing pending · schema 20260101000000\n\n  ✓ "))
  }

  @Test func `an empty file is listed as such, and only running it is refused`() async throws {
    _ = await migrate("apply", "--create", folder.database)
    let made = await migrate("new", "add isbn")
    let path = try #require(made.output.split(separator: "\n").first?.dropFirst("wrote ".count))
    let status = await migrate("status", folder.database)
    #expect(status.status == 0 && status.output.contains("  add isbn  empty: nothing to run yet\n"), "\(status)")
    #expect(status.output.hasSuffix("\nNext: write the SQL of \(path)\n"), "\(status)")
    #expect(await migrate("status", "--json", folder.database).output.contains(#""state":"pending","empty":true,"#))
    for command in ["apply", "plan", "check"] {
      let refused = await migrate(command, folder.database)
      #expect(
        refused.status == 2
          && refused.error == "error: \(path) is empty: write its SQL, or delete the file. Nothing was changed.\n",
        "\(refused)")
    }
    #expect(await migrate("log", folder.database).status == 0)
    #expect(await migrate("undo", folder.database).output.hasSuffix("1 undone · no migration applied\n"))
  }

  @Test(arguments: [
    ("001_a.sql", "CREATE TABLE a (b);\n"), ("V1__a.sql", "CREATE TABLE a (b);\n"),
    ("00001_a.sql", "-- +goose Up\nCREATE TABLE a (b);\n-- +goose Down\nDROP TABLE a;\n"),
  ]) func `an empty file of another tool's folder runs as nothing, and that is said`(name: String, text: String)
    async throws
  {
    try FileManager.default.removeItem(atPath: folder.migrations + "/20260101000000_a.sql")
    try folder.write(text, as: name)
    _ = await migrate("apply", "--create", folder.database)
    let made = await migrate("new", "add isbn")
    #expect(made.output.hasSuffix("\nIt is empty: until it has SQL, apply records it and runs nothing\n"), "\(made)")
    let path = try #require(made.output.split(separator: "\n").first?.dropFirst("wrote ".count))
    let status = await migrate("status", folder.database)
    #expect(status.output.contains("empty: nothing to run yet\n"), "\(status)")
    #expect(status.output.hasSuffix("\nNext: write the SQL of \(path)\n"), "\(status)")
    #expect(await migrate("status", "--json", folder.database).output.contains(#""state":"pending","empty":true,"#))
    let plan = await migrate("plan", folder.database)
    #expect(plan.status == 0 && plan.output.contains("      ! the file is empty: nothing is run\n"), "\(plan)")
    let applied = await migrate("apply", folder.database)
    #expect(applied.status == 0 && applied.output.contains("  ! 2  add isbn  empty: nothing was run\n"), "\(applied)")
  }

  @Test func `a moment ahead of the clock is said to be that`() {
    #expect(relativeTime(.now.addingTimeInterval(3 * 86_400 + 60)) == "3 days ahead")
    #expect(relativeTime(.now.addingTimeInterval(-3 * 86_400 - 60)) == "3 days ago")
    #expect(relativeTime(.now.addingTimeInterval(5)) == "just now")
  }

  @Test func `pending migrations show, and give status 3 where that is the question`() async throws {
    _ = await migrate("apply", "--create", folder.database)
    try folder.write("CREATE TABLE c (d);", as: "20260102000000_add_c.sql")
    let status = await migrate("status", environment: ["QUIRE_DATABASE": folder.database])
    #expect(status.status == 0)
    #expect(status.output.contains("\n  · 20260102000000  add c\n"))
    #expect(status.output.hasSuffix("\n\nNext: quire migrate apply\n"))
    #expect(await migrate("--exit-code", "-d", folder.database).status == 3)
    let json = await migrate("--json", folder.database).output
    let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    #expect(object?["pending"] as? Int == 1)
    #expect(object?["schema"] as? String == "20260101000000")
    let migrations = object?["migrations"] as? [[String: Any]]
    #expect(migrations?.map { $0["state"] as? String } == ["applied", "pending"])
    #expect(migrations?.map { $0["undo"] as? Bool } == [true, false])
  }

  @Test func `a failing migration says where, and that nothing changed`() async throws {
    try folder.write("CREATE TABLE c (d);\nCREATE INDEX i ON c(e);\n", as: "20260102000000_c.sql")
    let ran = await migrate("apply", "--create", folder.database)
    #expect(ran.status == 1)
    #expect(ran.output.hasPrefix("  ✓ 20260101000000  make a  "))
    #expect(
      ran.error == """
        error: no such column: e    \(folder.migrations)/20260102000000_c.sql:2:21
           2 │ CREATE INDEX i ON c(e);
             │                     ^
        Rolled back: the migration before it is applied (schema 20260101000000). Fix the file, run apply again.

        """)
  }

  @Test func `history that does not fit gives status 4, a newer database 7`() async throws {
    _ = await migrate("apply", "--create", folder.database)
    try folder.write("CREATE TABLE a (b, c);\n", as: "20260101000000_a.sql")
    for words in [["status", folder.database], ["apply", folder.database]] {
      let edited = await migrate(words[0], words[1])
      #expect(edited.status == 4)
      #expect(edited.error.contains("\n   2 │ - CREATE TABLE a (b);\n   1 │ + CREATE TABLE a (b, c);\n"))
    }
    try FileManager.default.moveItem(
      atPath: folder.migrations + "/20260101000000_a.sql", toPath: folder.migrations + "/20250101000000_a.sql")
    #expect(await migrate("apply", folder.database).status == 7)
    let json = await migrate("--json", folder.database)
    #expect(json.status == 7 && json.output.contains(#""kind":"database-newer""#))
  }

  @Test func `what is asked wrongly is told before any file is opened`() async throws {
    #expect(await migrate().error.hasPrefix("error: which database?"))
    #expect(await migrate("aply", "x.db").error.hasPrefix("error: unknown command ‘aply’: did you mean apply?"))
    #expect(await migrate("apply", "x.db", "-d", "y.db").error.contains("the database was given more than once"))
    #expect(await migrate("apply", "--wait", "soon", "x.db").status == 2)
    let missing = await migrate("-m", "/no/such", folder.database)
    #expect(missing.status == 2 && missing.error == "error: the migrations folder /no/such does not exist\n")
    #expect(await migrate(folder.path).error.hasPrefix("error: \(folder.path) is a directory"))
    #expect(await migrate(folder.path).status == 2)
    #expect(await migrate("-q", "apply", "--create", folder.database).output.isEmpty)
  }

  @Test func `names that other tools have, and words at another place, are answered with what is meant`() async throws {
    for (word, meant) in [
      ("up", "apply"), ("rollback", "undo"), ("down", "undo"), ("create", "new"), ("lint", "check"), ("stat", "status"),
    ] {
      #expect(await migrate(word).error.hasPrefix("error: unknown command ‘\(word)’: did you mean \(meant)?\n"))
    }
    #expect(
      await migrate("apply", "--dry-run", "x.db").error.hasPrefix(
        "error: quire migrate apply has no option --dry-run: did you mean the command plan?\n"))
    #expect(
      await migrate("./x.db", "status").error.hasPrefix(
        "error: unexpected argument ‘status’: a command stands before its arguments\n"))
    #expect(
      await migrate("log", "nope", "x.db").error.hasPrefix(
        "error: unexpected argument ‘x.db’: ‘nope’ is taken for the DATABASE, as VERSION is the number"))
    _ = await migrate("apply", "--create", folder.database)
    for command in ["diff", "restore"] {
      #expect(
        await migrate(command, folder.database).error.hasPrefix(
          "error: which database? Give its file, -d FILE, or QUIRE_DATABASE. If it is \(folder.database): here it is "
            + "given as  -d \(folder.database)\n"))
    }
  }

  @Test func `baseline none says what has run already`() async throws {
    _ = await migrate("apply", "--create", folder.database)
    #expect(
      await migrate("baseline", "none", folder.database).output
        == "nothing to do: 1 migration has run on this database\n")
  }

  @Test func `help lists the commands with their words`() async {
    let help = await tool.ran("help", "migrate").output
    for line in [
      "status [DATABASE]", "apply [DATABASE]", "undo [N] [DATABASE]", "baseline [VERSION] [DATABASE]",
      "diff [FROM] [TO]",
    ] {
      #expect(help.contains("\n  \(line) "))
    }
    #expect(help.contains("Options of undo:\n      --to VERSION "))
  }
}

import Foundation
import QuireSQLite
import QuireTool
import Testing

let migrateTool = Tool("quire", version: "0.1.0", "keeps models", commands: [.migrate])

/// Tests that run `migrate` in a folder of their own, for people and for programs.
protocol MigrateTrials {
  var folder: Folder { get }
  /// By default it names the folder of migrations and the database.
  var environment: Environment { get }
}

extension MigrateTrials {
  var environment: Environment { ["QUIRE_MIGRATIONS": folder.migrations, "QUIRE_DATABASE": folder.database] }

  func migrate(_ words: String..., answering answer: String? = nil, models: [String]? = nil) async -> Ran {
    await migrate(words, answering: answer, models: models)
  }

  /// - Parameter models: What the program's models want. By default it has none.
  func migrate(_ words: [String], answering answer: String? = nil, models: [String]? = nil) async -> Ran {
    let recorder = Recorder()
    let tool = models.map { models in
      Tool("quire", version: "0.1.0", "keeps models", commands: [.migrate(MigrationSource().models { models })])
    }
    var terminal = recorder.terminal(isTerminal: answer != nil)
    if let answer { terminal.input = { answer } }
    let status = await (tool ?? migrateTool).run(["migrate"] + words, terminal: terminal, environment: environment)
    func plain(_ text: String) -> String {
      text.replacing(folder.path + "/", with: "").replacing(#/ +\d+ ms/#, with: " N ms")
    }
    return Ran(status: status, output: plain(recorder.output), error: plain(recorder.error))
  }

  func document(_ ran: Ran) throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: Data(ran.output.utf8)) as? [String: Any]
    #expect(object?["v"] as? Int == 1)
    return try #require(object)
  }

  func execute(_ sql: String) throws {
    let connection = try Connection(migrating: folder.database, access: .create, busyTimeout: .zero)
    _ = try connection.run(script: sql, inTransaction: false)
  }

  var files: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.migrations)) ?? []).sorted()
  }
}

package import QuireRow

/// What one migration has run, as every node of a shared store runs it again.
package struct SharedMigration: Hashable, Sendable {
  /// Whether foreign keys are enforced statement by statement.
  package var enforcesKeys: Bool
  package var steps: [Step]
  /// Of schema and rows after it: see ``Connection/digest()``.
  package var digest: [UInt8]

  package enum Step: Hashable, Sendable {
    /// Statements as they were written, and whether strings may be in double quotes there.
    case script(String, takesQuotedStrings: Bool)
    /// One statement with its values.
    case statement(String, [Value])
  }

  package init(enforcesKeys: Bool, steps: [Step], digest: [UInt8]) {
    (self.enforcesKeys, self.steps, self.digest) = (enforcesKeys, steps, digest)
  }
}

/// Remembers what a migration runs, for other nodes.
package final class MigrationRecorder {
  package private(set) var steps: [SharedMigration.Step] = []
  package init() {}
  func add(_ step: SharedMigration.Step) { steps.append(step) }
}

extension Connection {
  /// Runs a statement that is part of a migration, beside its script.
  package func executeInMigration(_ sql: String, _ values: [Value] = []) throws(SQLiteError) {
    try execute(sql, values)
    recorder?.add(.statement(sql, values))
  }

  /// Runs again what another node has run, in an open transaction.
  package func run(_ migration: SharedMigration) throws {
    for step in migration.steps {
      switch step {
      case .script(let sql, let takesQuotedStrings):
        self.takesQuotedStrings = takesQuotedStrings
        _ = try run(script: sql, inTransaction: true)
      case .statement(let sql, let values): try execute(sql, values)
      }
    }
    try NodeTables(self).settleTriggers()
  }

  /// The schema and all rows that nodes share, as bytes: equal on two nodes if both are.
  package func digest() throws -> [UInt8] {
    var writer = ByteWriter()
    for row in try rows("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name") {
      for value in row { writer.value(value) }
    }
    writer.raw(try FileContents(of: self).bytes)
    return writer.bytes
  }
}

extension SharedMigration {
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.byte(enforcesKeys ? 1 : 0)
    writer.sized(digest)
    writer.count(steps.count)
    for step in steps {
      switch step {
      case .script(let sql, let takesQuotedStrings):
        writer.byte(takesQuotedStrings ? 2 : 1)
        writer.text(sql)
      case .statement(let sql, let values):
        writer.byte(0)
        writer.text(sql)
        writer.count(values.count)
        for value in values { writer.value(value) }
      }
    }
    return writer.bytes
  }

  package init(_ bytes: [UInt8]) throws(MalformedBytes) {
    var reader = ByteReader(bytes)
    enforcesKeys = try reader.byte() == 1
    digest = Array(try reader.sized())
    steps = []
    for _ in 0..<(try reader.count()) {
      let kind = try reader.byte()
      let sql = try reader.text()
      switch kind {
      case 0:
        var values: [Value] = []
        for _ in 0..<(try reader.count()) { values.append(try reader.value()) }
        steps.append(.statement(sql, values))
      case 1, 2: steps.append(.script(sql, takesQuotedStrings: kind == 2))
      default: throw reader.failure("a step of a migration is of an unknown kind")
      }
    }
  }
}

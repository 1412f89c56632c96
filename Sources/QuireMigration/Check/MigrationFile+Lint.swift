extension MigrationFile {
  /// Findings from the file's text alone, except those it allows.
  public func lint() -> [CheckFinding] {
    var findings: [CheckFinding] = []
    var made: Set<String> = []
    for statement in SQLWords.statements(of: up) {
      if let (verb, table) = statement.changesAllRows {
        findings.append(
          CheckFinding(.everyRow, file: path, line: statement.line, "\(verb) without WHERE: every row of \(table)"))
      }
      if let table = statement.createdTable { made.insert(table.lowercased()) }
      if let (table, column, reason) = statement.addedUnlessEmpty, !made.contains(table.lowercased()) {
        findings.append(
          CheckFinding(
            .requiredWithoutDefault, file: path, line: statement.line,
            "\(table).\(column) \(reason): refused if \(table) has rows"))
      }
    }
    findings += misplaced
    if undo == nil { findings.append(CheckFinding(.noUndo, file: path, "it has no undo, or an empty one")) }
    return findings.filter { !allows($0.code.rawValue) }
  }

  /// The first statement that cannot run in a transaction.
  private var misplaced: [CheckFinding] {
    do throws(MigrationError) {
      try checkStatements(steps: [])
    } catch {
      guard case .refused(let statement, let place) = error else { return [] }
      return [
        CheckFinding(
          .transaction, file: path, line: place.line, "\(statement): \(MigrationError.reason(against: statement))")
      ]
    }
    return []
  }
}

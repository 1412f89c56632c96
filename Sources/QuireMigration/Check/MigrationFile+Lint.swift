extension MigrationFile {
  /// What its text alone shows, without what it allows.
  public func lint() -> [CheckFinding] {
    var findings: [CheckFinding] = []
    for statement in SQLWords.statements(of: up) {
      if let (verb, table) = statement.changesAllRows {
        findings.append(
          CheckFinding(.everyRow, file: path, line: statement.line, "\(verb) without WHERE: every row of \(table)"))
      }
      if let (table, column) = statement.addedWithoutDefault {
        findings.append(
          CheckFinding(
            .requiredWithoutDefault, file: path, line: statement.line,
            "\(table).\(column) is NOT NULL without a default: refused where \(table) has rows"))
      }
      if !directives.contains(.noTransaction), let word = statement.transactionWord {
        findings.append(
          CheckFinding(
            .transaction, file: path, line: statement.line,
            "\(word) has no place in a migration: each runs in one transaction already"))
      }
    }
    if undo == nil { findings.append(CheckFinding(.noUndo, file: path, "it has no undo")) }
    return findings.filter { !allows($0.code.rawValue) }
  }
}

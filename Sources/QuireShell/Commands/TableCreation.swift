import Foundation
import QuireRow
import QuireSQLite

// .import FILE TABLE --create

extension ShellSession {
  /// The statement that makes the table for an import, by all records of the file, which is read for it. Where another sign
  /// than a comma is on the first line, the request gets that for its separator.
  ///
  /// - Throws: ``ShellFailure`` if there is such a table, or if the file cannot be read twice or cannot be a table.
  func newTable(for request: inout ImportRequest) throws -> String {
    if source.recording == nil { throw refusedWrite }
    if !FileName.isRegular(request.file), access(request.file, F_OK) == 0 {
      throw ShellFailure(
        "--create reads \(printable(request.file)) twice, for the types and for the values, and so it must be a file",
        .usage)
    }
    let table = "\"'[`".contains(request.model.prefix(1)) ? SQLTokens.name(request.model) : request.model
    if SchemaReader.isReserved(table) {
      throw ShellFailure("\(printable(table)) is a name that SQLite and Quire keep for their own tables", .usage)
    }
    if try !SchemaReader(source.connection).objects(named: table).isEmpty {
      throw ShellFailure(
        "there is a table or view \(printable(table)) already",
        hint: "without --create the records are added to it, if it has their columns", .refused)
    }
    var proposal = try proposal(for: request)
    if let separator = proposal.separator?.asciiValue {
      request.separator = separator
      proposal = try self.proposal(for: request)
    }
    let key = try request.key.map { try proposal.key($0) }
    guard let statement = proposal.statement(for: request.model, key: key) else {
      throw ShellFailure("\(printable(request.file)) has names that no column can have")
    }
    return statement
  }

  private func proposal(for request: ImportRequest) throws -> TableProposal {
    let watch = source.watch
    var count = 0
    return try TableProposal(forAllOf: request) {
      if watch.wasStopped { throw ShellFailure.stoppedImport }
      count += 1
      if count.isMultiple(of: 1000) { shared.withLock { $0.recordsRead = count } }
    }
  }
}

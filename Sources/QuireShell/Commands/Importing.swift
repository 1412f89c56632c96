import Foundation
import QuireMigration
import QuireRow
import QuireSQLite

// .import FILE MODEL

extension ShellSession {
  /// Adds a file's rows to a model's table, all or none, as they are read. One write, which can be undone unless it
  /// added too much to be kept.
  func load(_ argument: String) throws -> String {
    try load(ImportRequest(argument) { models.model(named: $0) != nil })
  }

  func load(_ request: ImportRequest) throws -> String {
    var request = request
    let creation = try request.createsTable ? newTable(for: &request) : nil
    let existing = try creation == nil ? table(of: request) : nil
    guard let recording = source.recording else { throw refusedWrite }
    try checkPlace(writing: true)
    let watch = source.watch
    var records = try ImportRecords(request) { watch.wasStopped }
    let header = records.header
    let prepared = try existing.map { try Insertion(into: $0, header, of: request, source.connection) }
    begin(.writing)
    let clock = ContinuousClock()
    let begin = clock.now
    var count = 0
    func add() throws -> FileModel {
      if let creation {
        try recording.alter(table: false) { try source.connection.execute(creation) }
        try refresh()
      }
      var insertion =
        try prepared ?? Insertion(into: table(of: request), header, of: request, source.connection)
      let keys = try DeferredKeys(source.connection)
      do {
        while let (record, place) = try records.next() {
          if watch.wasStopped { throw ShellFailure.stoppedImport }
          try insertion.insert(record, at: place)
          keys.added(place)
          count += 1
          if count.isMultiple(of: 1000) { shared.withLock { $0.recordsRead = count } }
        }
        try keys.check(insertion.model)
      } catch {
        try keys.end()
        throw error
      }
      if !keys.hadViolations { try keys.end() }
      return insertion.model
    }
    // A change of the schema is not taken back, and its rows with it neither.
    let isRecorded = options.staysOpen && creation == nil
    let savepoint = "quire_import"
    var tables: [TableChanges]?
    let version = try dataVersion
    let model: FileModel
    do {
      if isRecorded {
        (model, tables) = try recording.record(
          savepoint: savepoint, limitInBytes: options.undoableSizeInBytes, add)
      } else {
        model = try recording.unrecorded(savepoint: savepoint, add)
      }
    } catch  where watch.wasStopped {
      // Whatever was stopped, such as a statement, which SQLite calls an error of its record.
      throw ShellFailure.stoppedImport
    }
    let index = tables?.first { $0.table.isInternal }.map { "it changed the index in \($0.table.name) too" }
    let unrecorded = creation == nil ? "it added more than is kept in memory" : "it made the table"
    let entry = UndoLog.Entry(
      tables: (tables ?? []).filter { !$0.table.isInternal }, version: version,
      obstacle: options.staysOpen && tables == nil ? unrecorded : index)
    let hasChanged = tables.map { !$0.isEmpty } ?? (count > 0 || creation != nil)
    if hasChanged { undone.add(entry) }
    let rows = "\(count.grouped) \(count == 1 ? "row" : "rows") added to \(model.name)"
    let end = entry.obstacle.map { "cannot be undone: \($0)" } ?? (options.staysOpen ? "undo to take it back" : nil)
    return [rows, (clock.now - begin).spoken, hasChanged ? end : nil].compactMap { $0 }.joined(separator: " · ")
  }

  /// The model that an import adds to.
  private func table(of request: ImportRequest) throws(ShellFailure) -> FileModel {
    let model = try find(request.model) { TableProposal(for: request)?.hint(for: request.model) }
    if !model.isWritable { throw ShellFailure("\(model.name) is a view, and can only be read", .refused) }
    return model
  }
}

extension ShellFailure {
  static let nothingAdded = "Nothing was added"
  static let stoppedImport = ShellFailure("stopped; nothing was added", .stopped)
}

/// Inserts records into a table, by one statement as long as they have the same names.
private struct Insertion {
  let model: FileModel
  private let connection: Connection
  private var names: [String]?
  /// Those of the names without the computed ones.
  private var columns: [FileModel.Column] = []
  /// By name; nil for a computed column, whose value is passed over.
  private var kinds: [ColumnKind?] = []
  private var sql = ""

  /// - Parameter header: The names that all records have; nil if each has its own.
  init(into model: FileModel, _ header: [String]?, of request: ImportRequest, _ connection: Connection) throws {
    (self.model, self.connection) = (model, connection)
    if let header { try prepare(header, at: RecordPlace(path: request.file, line: 1)) }
  }

  mutating func insert(_ record: [JSONLine.Member], at place: RecordPlace) throws {
    let isPrepared = names.map { record.elementsEqual($0) { $0.name == $1 } } ?? false
    if !isPrepared { try prepare(record.map(\.name), at: place) }
    var values: [Value] = []
    values.reserveCapacity(columns.count)
    for (member, kind) in zip(record, kinds) {
      guard let kind else { continue }
      guard let value = member.field.value(in: kind) else {
        throw place.failure(
          "the number of \(printable(member.name)) has more digits than a column keeps, or is beyond all numbers",
          hint: "in quotes it is text, which keeps them")
      }
      values.append(value)
    }
    do {
      try connection.execute(sql, values)
    } catch {
      // The file or its disk is at fault, and not the record.
      if error.databaseError(path: model.table, waited: .zero) != nil { throw error }
      let reason =
        error.isForeignKey
        ? "it refers to a row that does not exist"
        : WriteFailure(model: model, given: columns).explained(error)?.message ?? error.message
      throw place.failure(reason, hint: error.isOfApplication ? SQLFailure.hint(ofMissing: error.message) : nil)
    }
  }

  private mutating func prepare(_ names: [String], at place: RecordPlace) throws {
    var all: [FileModel.Column] = []
    for (number, name) in names.enumerated() {
      if name.isEmpty, model.column(named: name) == nil {
        throw place.failure(
          "name \(number + 1) of \(names.count) is empty",
          hint: number == 0
            ? "R writes numbers of rows without a name, unless row.names = FALSE, and pandas, unless index=False"
            : "a separator at the end of the first line, or two in a row, make a name that is empty")
      }
      guard let column = model.column(named: name) else {
        throw place.failure("\(model.name) has no \(printable(name))", hint: hint(forUnknown: name))
      }
      if all.contains(where: { $0.column.utf8.elementsEqual(column.column.utf8) }) {
        throw place.failure("\(printable(name)) is there twice")
      }
      all.append(column)
    }
    self.names = names
    kinds = all.map { $0.isGenerated ? nil : ColumnKind(of: $0) }
    columns = all.filter { !$0.isGenerated }
    let list = try columns.map { try quoted(identifier: $0.column) }.joined(separator: ", ")
    let marks = columns.map { _ in "?" }.joined(separator: ", ")
    sql =
      "INSERT INTO \(try quoted(identifier: model.table)) "
      + (columns.isEmpty ? "DEFAULT VALUES" : "(\(list)) VALUES (\(marks))")
  }

  /// What was probably meant by a name that is none of the model's.
  private func hint(forUnknown name: String) -> String? {
    if name.hasPrefix("sep="), name.utf8.count <= 5 {
      return "that line tells Excel what separates the fields: without it the file can be read, with --separator"
    }
    for sign in ";|" where name.contains(sign) {
      return "commas separate fields, and tabs in .tsv; --separator '\(sign)' behind the model reads this file"
    }
    if name.contains("\t") { return "commas separate fields; a file with tabs is a .tsv file" }
    let bare = name[...].trimmed
    if bare != name, model.column(named: bare) != nil {
      return "a space beside a separator is a part of the name: write \(printable(bare))"
    }
    if let column = model.column(named: name + "_id") { return "did you mean \(column.name)?" }
    return nearest(to: name, among: model.columns.map(\.name)).map { "did you mean \($0)?" }
  }
}

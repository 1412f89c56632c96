import Foundation
import QuireMigration
import QuireRow
import QuireSQLite

// .import FILE MODEL

extension ShellSession {
  /// What is undone is kept in memory until then: of files up to this size.
  static let undoableSizeInBytes = 64 << 20

  /// Adds a file's rows to a model's table, all or none, as they are read. One write, which can be undone
  /// but for a large file's.
  func load(_ argument: String) throws -> String {
    let (file, name) = Self.file(in: argument)
    if file.isEmpty || name.isEmpty { throw ShellFailure(".import FILE MODEL", .usage) }
    let model = try find(name)
    guard let recording = source.recording else { throw ShellFailure(Self.onlyReads, .refused) }
    if !model.isWritable { throw ShellFailure("\(model.name) is a view, and can only be read", .refused) }
    var records = try ImportRecords(file)
    let clock = ContinuousClock()
    let begin = clock.now
    var count = 0
    func add() throws {
      while let (record, line) = try records.next() {
        if source.watch.wasStopped { throw ShellFailure("stopped; nothing was added", .stopped) }
        try insert(record, line, into: model)
        count += 1
        if count.isMultiple(of: 1000) { shared.withLock { $0.recordsRead = count } }
      }
    }
    let isLarge = records.sizeInBytes > Self.undoableSizeInBytes
    let tables = isLarge ? [] : try recording.record(add).tables
    if isLarge { try recording.unrecorded(add) }
    let entry = UndoLog.Entry(
      tables: tables.filter { !$0.table.isInternal },
      obstacle: isLarge
        ? "the file is too large for its rows to be kept"
        : tables.first { $0.table.isInternal }.map { "it changed the index in \($0.table.name) too" })
    if count > 0 { undone.add(entry) }
    let rows = "\(count.grouped) \(count == 1 ? "row" : "rows") added to \(model.name)"
    let end = entry.obstacle.map { "cannot be undone: \($0)" } ?? (options.offersUndo ? "undo to take it back" : nil)
    return [rows, (clock.now - begin).spoken, end].compactMap { $0 }.joined(separator: " · ")
  }

  private func insert(_ record: [(name: String, value: Value)], _ line: Int, into model: FileModel) throws {
    var columns: [String] = []
    for (name, _) in record {
      guard let column = model.column(named: name), !column.isGenerated else {
        let near = nearest(to: name, among: model.columns.map(\.name)).map { "did you mean \($0)?" }
        throw ShellFailure("line \(line): \(model.name) has no \(printable(name)). Nothing was added", hint: near)
      }
      columns.append(try quoted(identifier: column.column))
    }
    let marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")
    do {
      try source.connection.execute(
        "INSERT INTO \(try quoted(identifier: model.table)) (\(columns.joined(separator: ", "))) VALUES (\(marks))",
        record.map(\.value))
    } catch let error as SQLiteError {
      throw ShellFailure("line \(line): \(error.message). Nothing was added")
    }
  }
}

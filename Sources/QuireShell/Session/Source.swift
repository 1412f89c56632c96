import Foundation
import QuireModel
import QuireRow
import QuireSQLite

/// The open file of a session.
struct Source {
  let path: String
  let connection: Connection
  /// Reports what writes change; nil while the session only reads.
  let recording: RecordingConnection?
  let watch: RunWatch
  /// What is committed here, for live answers that must know it from others' commits.
  let own: LocalCommits
  private let numbers: FileNumbers?

  init(opening path: String, _ options: ShellOptions) throws(ShellFailure) {
    try self.init(opening: path, isWriting: options.allowsWriting, options)
  }

  /// - Parameter own: The session's earlier commits, if it is the same file.
  init(opening path: String, isWriting: Bool, own: LocalCommits = LocalCommits(), _ options: ShellOptions)
    throws(ShellFailure)
  {
    self.path = path
    self.own = own
    numbers = FileNumbers(path)
    do {
      if isWriting {
        let opened = try RecordingConnection(path: path, busyTimeout: options.busyTimeout, own: own, author: "quire")
        recording = opened
        connection = opened.connection
      } else {
        var settings = ConnectionOptions()
        settings.busyTimeout = options.busyTimeout
        settings.leavesNothing = true
        settings.trustsSchema = true  // as in the sqlite3 program: all functions are SQLite's own and ours
        connection = try Connection(path: path, access: .readOnly, options: settings)
        recording = nil
      }
    } catch let error as DatabaseError {
      throw ShellFailure(error)
    } catch {
      throw ShellFailure("\(path) cannot be opened: \(error)", .usage)
    }
    watch = connection.watched()
  }

  /// Makes a database of a file that is missing or has no bytes.
  static func create(_ path: String) throws(ShellFailure) {
    var info = stat()
    if stat(path, &info) == 0, info.st_size > 0 { return }
    do {
      _ = try Connection(path: path, access: .create)
    } catch {
      throw ShellFailure(error)
    }
  }

  /// Where the file is that was opened.
  enum Place { case atItsPath, nowhere, replaced }

  var place: Place {
    guard let found = FileNumbers(path) else { return .nowhere }
    return found == numbers ? .atItsPath : .replaced
  }

  // MARK: What it has

  /// Reads under one lock, so that all statements see the same state of the file.
  func atOnce<Value, Failure>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    guard connection.isAutocommit, (try? connection.execute("BEGIN")) != nil else { return try body() }
    defer { _ = try? connection.execute("COMMIT") }
    return try body()
  }

  /// The file's models, with those compiled into the program in their places.
  func look(_ types: [any PersistentModel.Type]) throws(ShellFailure) -> FileModels {
    do {
      var models = FileModels()
      models.schemaVersion = try connection.schemaVersion()
      let reader = ModelReader(connection: connection)
      let read = try reader.read()
      models.unreadable = read.unreadable
      let found = ModelInference.models(read) { reader.matches($0, in: $1) }
      models.all = try CompiledModels(types).applied(to: found, on: connection)
      return models
    } catch {
      throw SQLFailure(input: "", file: path, names: { [] }).explained(error, nil)
    }
  }

  /// Rows are counted only in files up to this size, where that is cheap.
  private static let countedSizeInBytes = 1 << 20

  /// The file's properties for the banner.
  var facts: FileFacts {
    var facts = FileFacts()
    var info = stat()
    if stat(path, &info) == 0 {
      facts.sizeInBytes = Int(info.st_size)
    } else if case .integer(let bytes)? = try? connection.query(
      "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    ).first {
      facts.sizeInBytes = Int(bytes)
    }
    facts.countsRows = facts.sizeInBytes <= Self.countedSizeInBytes
    if facts.countsRows { facts.rows = rowCount }
    let version = try? connection.query(
      "SELECT version FROM _quire_migrations ORDER BY version DESC LIMIT 1"
    ).first
    facts.schema = version?.string
    return facts
  }

  private var rowCount: Int? {
    let tables = (try? SchemaReader(connection).tables()) ?? []
    var count = 0
    for table in tables where table.kind == .table && !table.isReserved {
      guard let table = try? quoted(identifier: table.name),
        case .integer(let rows)? = try? connection.query("SELECT count(*) FROM \(table)").first
      else { return nil }
      count += Int(rows)
    }
    return count
  }
}

struct FileFacts {
  var sizeInBytes = 0
  var countsRows = false
  var rows: Int?
  /// The last migration's version.
  var schema: String?
}

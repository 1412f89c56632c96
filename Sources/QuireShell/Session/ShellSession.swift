public import Foundation
import QuireModel
public import QuireRow
import QuireSQLite

/// An interactive session with one SQLite file: text in, results out, in SQL, in the model language or as commands.
///
///     let session = try ShellSession(opening: URL(filePath: "library.db"))
///     for line in session.banner { print(line) }
///     try await session.run("Book where author.name = \"Lem\" limit 3") { reply in … }
///
/// Opens the file for reading only, creates nothing, and leaves nothing beside it when the session is released. One
/// input runs at a time, on the actor; ``cancel()``, completion and everything else that does not wait may be called
/// from any thread meanwhile.
public actor ShellSession {
  /// A thread of its own, as a statement may run for hours; nil on the main one.
  private let queue: JobQueue?
  nonisolated public var unownedExecutor: UnownedSerialExecutor {
    queue?.asUnownedSerialExecutor() ?? MainActor.sharedUnownedExecutor
  }
  /// What may be looked at from any thread.
  nonisolated let shared: Locked<Shared>
  nonisolated public let options: ShellOptions
  var source: Source
  var kept: Kept?
  var undone: UndoLog
  /// The text that is being run, for the places of errors.
  var input = ""
  /// The most deeply nested part of the current query of models.
  var deepest = 0..<0
  /// What is being done, and since when.
  private var work = SQLFailure.Work.reading
  private var begun = ContinuousClock.now
  private var wasInTransaction = false

  struct Shared {
    var file: String
    /// Whether the session has taken the file's records, and has no database to write to or to follow.
    var isCopied = false
    var models = FileModels()
    var banner: [String] = []
    var isWriting = false
    var isInTransaction = false
    var settings = ShellSettings()
    var parameters: [String: Value]
    var watch: RunWatch
    /// How many records of a file the present command has read.
    var recordsRead = 0
    /// What it has committed in the present file.
    var own: LocalCommits
  }

  /// The last result, and the model of its rows.
  struct Kept {
    var answer: Answer
    var rows: Resolver.KeptRows?
  }

  /// - Throws: ``ShellFailure`` for a path that leads to no database.
  public init(opening file: URL, options: ShellOptions = ShellOptions()) throws(ShellFailure) {
    try self.init(path: file.relativePath, options)
  }

  /// - Parameter isOnMainThread: Whether it runs on the main thread, for callers that only wait for it.
  package init(path: String, _ options: ShellOptions, isOnMainThread: Bool = false) throws(ShellFailure) {
    if options.createsFile { try Source.create(path) }
    let source = try Source(opening: path, options)
    self.source = source
    queue = isOnMainThread ? nil : JobQueue("quire.session")
    self.options = options
    undone = UndoLog(keeping: options.undoableRows)
    shared = Locked(
      Shared(
        file: path, isWriting: options.allowsWriting,
        settings: ShellSettings(format: options.format, isFormatChosen: options.isFormatChosen),
        parameters: options.parameters,
        watch: source.connection.watched(), own: source.own))
    guard options.readsModels else { return }
    try source.atOnce { () throws(ShellFailure) in
      let found = try source.look(options.models)
      let banner = Banner(file: source.path, found, source.facts, isWriting: options.allowsWriting)
      shared.withLock { shared in
        shared.models = found
        shared.banner = banner.lines
      }
    }
  }

  // MARK: From any thread

  /// The file as it was named.
  nonisolated public var file: String { shared.withLock { $0.file } }
  /// What the file has, and a query that works on it.
  nonisolated public var banner: [String] { shared.withLock { $0.banner } }
  nonisolated public var models: FileModels { shared.withLock { $0.models } }
  nonisolated public var settings: ShellSettings { shared.withLock { $0.settings } }
  nonisolated var isCopied: Bool { shared.withLock { $0.isCopied } }
  nonisolated public var isWriting: Bool { shared.withLock { $0.isWriting } }
  nonisolated public var isInTransaction: Bool { shared.withLock { $0.isInTransaction } }
  /// Values of `:name`, by bare name.
  nonisolated public var parameters: [String: SQLValue] { shared.withLock { $0.parameters } }
  /// How many steps of SQLite's machine the present statement has taken.
  nonisolated public var steps: Int { shared.withLock { $0.watch.steps } }

  /// How many records of a file the current command has read; 0 if it reads none.
  nonisolated public var recordsRead: Int { shared.withLock { $0.recordsRead } }

  /// Its commits in the current file: live results distinguish them from commits by others.
  nonisolated public var commits: SessionCommits { SessionCommits(own: shared.withLock { $0.own }) }

  /// Stops what is being run, at once; it is answered by a ``ShellFailure`` of kind `stopped`. What has not begun yet
  /// is stopped by canceling its task.
  nonisolated public func cancel() { shared.withLock { $0.watch }.stop() }

  /// Makes ``RunWatch/stopBySignal()`` stop what is being run in the present file.
  nonisolated package func standsForSignals() { shared.withLock { $0.watch }.standsForSignals() }

  /// Whether ``RunWatch/stopBySignal()`` was called since ``standsForSignals()``.
  nonisolated package static var wasStoppedBySignal: Bool { RunWatch.wasStoppedBySignal }

  /// The file's name in short, for a prompt: `lib` of `library.db`.
  nonisolated public var promptName: String {
    String(printable(FileName(file).bare).prefix(12))
  }

  /// Whether a text could be run as it is, and is not still being typed.
  nonisolated public func isComplete(_ text: String) -> Bool {
    switch InputReader(models: models).kind(of: text) {
    case .nothing, .command, .undo, .redo, .foreign: true
    case .sql: Completeness.isComplete(sql: text)
    case .model: ModelCompleteness.isComplete(text)
    case .verb(_, let start):
      isComplete(String(decoding: Array(text.utf8).dropFirst(start), as: UTF8.self))
    }
  }

  nonisolated func isSQL(_ text: String) -> Bool { InputReader(models: models).kind(of: text) == .sql }

  /// Whether a line goes on with a query of models that is complete without it.
  nonisolated package func continues(_ text: String, _ line: String) -> Bool {
    let reader = InputReader(models: models)
    switch reader.kind(of: text) {
    case .model, .verb: return reader.continuation(in: line) != nil
    default: return false
    }
  }

  // MARK: Running

  /// Runs one input, of one or several statements, and delivers the result of each as it comes.
  ///
  /// - Parameters:
  ///   - output: The destination of rows as they are read; without it, they are kept and delivered as
  ///     ``Reply/answer(_:)``.
  ///   - confirm: Called before a write without a condition; returns whether to continue. Without it, such a write is
  ///     refused.
  /// - Throws: ``ShellFailure``; statements before the failed one stay done. Its kind is `stopped` if the task is
  ///   canceled, even before the run has begun.
  public func run(
    _ text: String, to output: RowOutput? = nil,
    confirm: (@Sendable (String) async -> Bool)? = nil,
    each: @escaping @Sendable (Reply) async throws -> Void
  ) async throws {
    input = text
    begin(source.recording == nil ? .reading : .either)
    if source.connection.isPassed { try reopen() }
    source.watch.start()
    shared.withLock { $0.recordsRead = 0 }
    do {
      try await withTaskCancellationHandler {
        if Task.isCancelled { throw ShellFailure("stopped", .stopped) }
        let writes = RepeatedWrites()
        let session = self  // a closure with `self` in it would be run on another thread
        let checked = Run(output: output, confirm: confirm) { reply in
          if !reply.isDelivered { try await session.checkNotPassed() }
          for reply in writes.replies(to: reply) { try await each(reply) }
        }
        do {
          try await answer(text, checked)
        } catch {
          for reply in writes.rest() { try await each(reply) }
          throw error
        }
        for reply in writes.rest() { try await each(reply) }
      } onCancel: {
        cancel()
      }
    } catch {
      noteEnd()
      let failure = explained(error)
      throw isInTransaction && !options.staysOpen ? failure.rollingBack : failure
    }
    noteEnd()
  }

  /// Opens the file again after another program has written to it, if it could not be locked.
  private func reopen() throws(ShellFailure) {
    let opened = try Source(opening: source.path, isWriting: isWriting, own: source.own, options)
    source = opened
    shared.withLock { $0.watch = opened.watch }
  }

  /// Called when an answer has been read and before it is delivered: a write after that does not concern it.
  func checkNotPassed() throws(ShellFailure) {
    if !source.connection.isPassed { return }
    throw ShellFailure(
      "another program has written to \(printable(source.path)) while it was read, and could not be kept from it, as nothing can be "
        + "made in its folder: the answer may be of two states. Ask again", .busy)
  }

  /// What one run was given.
  struct Run {
    let output: RowOutput?
    let confirm: (@Sendable (String) async -> Bool)?
    let each: @Sendable (Reply) async throws -> Void
  }

  func answer(_ text: String, _ run: Run) async throws {
    if InputReader.isSurelySQL(text) { return try await sql(text, run) }
    try refresh()
    let reader = InputReader(models: models)
    switch reader.kind(of: text) {
    case .nothing: return
    case .command(let name, let argument, let sign): try await command(name, argument, sign, run)
    case .undo: try await run.each(.written(try undo()))
    case .redo: try await run.each(.written(try redo()))
    case .model(let start): try await model(text, from: start, run)
    case .sql:
      if let word = reader.continuation(in: text) {
        throw ShellFailure(
          "no query begins so", at: word,
          hint: "a query of models ends with its line, unless the line ends with what needs more behind it")
      }
      try await sql(text, run)
    case .foreign(let word, let hint, let range):
      throw ShellFailure("‘\(word)’ is not SQLite's", at: range, hint: hint, .usage)
    case .verb(let verb, let start): try await self.verb(verb, text, from: start, run)
    }
  }

  /// To be called before the file is read or written. With a write-ahead log, SQLite itself does not look.
  ///
  /// - Throws: ``ShellFailure`` if another file is at the path, whose rows an answer would not have; for a write, also if
  ///   there is none. What a deleted file has can still be read.
  func checkPlace(writing: Bool) throws(ShellFailure) {
    if isCopied { return }  // nothing is at its path
    switch source.place {
    case .atItsPath: return
    case .nowhere where !writing: return
    default:
      throw ShellFailure(
        "\(printable(source.path)) was replaced, moved or deleted while it was open. "
          + (writing ? "Nothing was written, because it would be lost" : "The answer would be the old file's"),
        hint: "leave, and open the file that is to be used")
    }
  }

  func explained(_ error: any Error) -> ShellFailure {
    let connection = source.connection
    let names = { (try? SchemaReader(connection).names()) ?? [] }
    var failure = SQLFailure(
      input: input, file: source.path, names: names, work: work, elapsed: ContinuousClock.now - begun)
    failure.users = { Self.definitions(using: $0, in: connection) }
    failure.hasEndedTransaction = wasInTransaction && connection.isAutocommit
    return failure.explained(error, source.watch)
  }

  /// The views and triggers of the file whose text has the name, such as `view v`.
  private static func definitions(using name: String, in connection: Connection) -> [String] {
    let objects = (try? SchemaReader(connection).objects(mentioning: name.lowercased())) ?? []
    return objects.filter { object in
      guard object.kind == .view || object.kind == .trigger, let sql = object.sql else { return false }
      let tokens = SQLTokens(sql)
      return tokens.contains { SQLName(tokens.name(of: $0)) == SQLName(name) }
    }.map { "the \($0.kind.rawValue) \($0.name)" }
  }

  /// Records the work from now on, for the message if it fails.
  func begin(_ work: SQLFailure.Work) {
    (self.work, begun) = (work, .now)
    wasInTransaction = !source.connection.isAutocommit
  }

  private func noteEnd() {
    let isOpen = !source.connection.isAutocommit
    source.recording?.transactionEnded()
    shared.withLock { $0.isInTransaction = isOpen }
    if !isOpen { undone.transactionEnded() }
  }

  /// Reads the models again if the schema was altered.
  func refresh() throws {
    if try source.connection.schemaVersion() == models.schemaVersion { return }
    let found = try source.atOnce { () throws(ShellFailure) in try source.look(options.models) }
    shared.withLock { $0.models = found }
  }
}

extension Value {
  var string: String? { if case .text(let text) = self { text } else { nil } }
}

public import QuireModel
public import QuireRow

/// How a session is opened.
public struct ShellOptions: Sendable {
  /// Classes compiled into the program, whose names are used if a file has their tables.
  public var models: [any PersistentModel.Type] = []
  /// Whether models are read when the file is opened, for the banner and completion; otherwise when they are first
  /// needed, which SQL never does.
  public var readsModels = true
  /// Whether writes are run from the start; `.write` switches it.
  public var allowsWriting = false
  /// Whether a file that is missing or has no bytes becomes a database.
  package var createsFile = false
  /// Values of `:name` in queries, by bare name.
  public var parameters: [String: SQLValue] = [:]
  /// The format of answers until `.as` names another.
  public var format = AnswerFormat.table
  /// Whether the user has chosen that format, so that a file gets it whose name does not say another.
  public var isFormatChosen = false
  /// How long a lock of another process is waited for.
  public var busyTimeout = Duration.seconds(5)
  /// How many rows a model's bare name shows, the newest ones; nil for all, as scripts want it.
  public var screenRows: Int?
  /// How many rows of an answer are kept for `_`, `.as` and `.save`.
  public var keptRows = 100_000
  /// How many changed rows a session keeps to undo its writes; those of the last write in any case.
  var undoableRows = 500_000
  /// How much memory the record of an import may take while it is made; of one that takes more nothing is kept to undo it.
  var undoableSizeInBytes = 32 << 20
  /// Whether a write without a condition is run without a question.
  public var answersYes = false
  /// Whether the session goes on after an input. Otherwise the result of a write does not say how to undo it, and a
  /// transaction that an input leaves open is an error.
  public var staysOpen = true

  public init() {}
}

/// Settings by commands such as `.as` and `.time`, for code that shows results.
public struct ShellSettings: Hashable, Sendable {
  public var format = AnswerFormat.table
  var isFormatChosen = false
  /// The table of `insert` statements, if one was given.
  var table: String?
  /// One value a line, whatever the format.
  public var isWide = false
  /// Whether all rows are shown instead of a screenful.
  public var showsAll = false
  public var showsTime = true
  public var showsSQL = true
}

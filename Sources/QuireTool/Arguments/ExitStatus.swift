/// What a command returns to the shell.
public struct ExitStatus: RawRepresentable, Hashable, Sendable {
  /// The number that the shell sees, 0 to 255.
  public let rawValue: Int32
  /// A status of a command's own. Numbers up to 8 have the meanings below.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Done, or nothing to do.
  public static let done = ExitStatus(rawValue: 0)
  /// It failed; partial changes were undone.
  public static let failure = ExitStatus(rawValue: 1)
  /// Wrong arguments, or a file that does not exist.
  public static let usage = ExitStatus(rawValue: 2)
  /// Migrations are pending, for a command that reports this.
  public static let pending = ExitStatus(rawValue: 3)
  /// Files and history of migrations do not fit.
  public static let history = ExitStatus(rawValue: 4)
  /// Refused: it would destroy something, or needs an answer.
  public static let refused = ExitStatus(rawValue: 5)
  /// Another program holds the lock of the database: the same command can succeed later.
  public static let busy = ExitStatus(rawValue: 6)
  /// The database is newer than this program or these files.
  public static let databaseIsNewer = ExitStatus(rawValue: 7)
  /// A check has findings.
  public static let found = ExitStatus(rawValue: 8)
  /// An answer without rows, for a command that reports this.
  public static let noRows = ExitStatus(rawValue: 3)
  /// It exceeded its time limit; the same number as of `timeout`.
  public static let timedOut = ExitStatus(rawValue: 124)
  /// Ended by Ctrl-C; the number that shells use.
  public static let interrupted = ExitStatus(rawValue: 130)
}

/// An error with an exit status of its own. Any other error is an ``ExitStatus/failure``.
public protocol CommandError: Error, CustomStringConvertible {
  /// The status that the program ends with if the error is not caught.
  var exitStatus: ExitStatus { get }
}

/// An error of a command: the text says what is wrong, where, what state the data is in, and what to type.
public struct CommandFailure: CommandError, Hashable {
  /// The whole text, which is printed behind `error:`.
  public let description: String
  /// The status that the program ends with.
  public let exitStatus: ExitStatus

  /// An error with this text and status.
  public init(_ description: String, _ exitStatus: ExitStatus = .failure) {
    self.description = description
    self.exitStatus = exitStatus
  }
}

/// Unknown or missing words on the command line.
public struct UsageError: CommandError, Hashable {
  /// What is wrong with which word, without a final period.
  public let message: String
  /// The command whose help says more, from the program's name on.
  public let command: [String]

  /// A message about the command with these names, from the program's name on.
  public init(_ message: String, command: [String]) {
    self.message = message
    self.command = command
  }

  /// ``ExitStatus/usage``, 2.
  public var exitStatus: ExitStatus { .usage }

  /// The message, and below it the command that shows the help.
  public var description: String {
    "\(message)\nhelp:  " + ([command.first ?? "", "help"] + command.dropFirst()).joined(separator: " ")
  }
}

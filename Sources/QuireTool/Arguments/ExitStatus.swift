/// What a command returns to the shell.
public struct ExitStatus: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Done, or nothing to do.
  public static let done = ExitStatus(rawValue: 0)
  /// It did not work; what was begun is undone.
  public static let failure = ExitStatus(rawValue: 1)
  /// Asked wrongly, or of a file that is not there.
  public static let usage = ExitStatus(rawValue: 2)
  /// Migrations are pending, where that was the question.
  public static let pending = ExitStatus(rawValue: 3)
  /// Files and history of migrations do not fit.
  public static let history = ExitStatus(rawValue: 4)
  /// Refused: it would destroy something, or needs an answer.
  public static let refused = ExitStatus(rawValue: 5)
  public static let busy = ExitStatus(rawValue: 6)
  /// The database is newer than this program or these files.
  public static let databaseIsNewer = ExitStatus(rawValue: 7)
  /// Something was found that is to be looked at, where that was the question.
  public static let found = ExitStatus(rawValue: 8)
  /// An answer without rows, where that was the question.
  public static let noRows = ExitStatus(rawValue: 3)
  /// It took longer than it was given, as `timeout` has it.
  public static let timedOut = ExitStatus(rawValue: 124)
  /// Ended by Ctrl-C, as shells count it.
  public static let interrupted = ExitStatus(rawValue: 130)
}

/// An error that knows what the shell is to be told. Any other is a ``ExitStatus/failure``.
public protocol CommandError: Error, CustomStringConvertible {
  var exitStatus: ExitStatus { get }
}

/// A command's own refusal: the text says what is wrong, where, in what state the data is, what to type.
public struct CommandFailure: CommandError, Hashable {
  public let description: String
  public let exitStatus: ExitStatus

  public init(_ description: String, _ exitStatus: ExitStatus = .failure) {
    self.description = description
    self.exitStatus = exitStatus
  }
}

/// Words the command line does not know, or lacks.
public struct UsageError: CommandError, Hashable {
  public let message: String
  /// The command whose help says more, from the program's name on.
  public let command: [String]

  public init(_ message: String, command: [String]) {
    self.message = message
    self.command = command
  }

  public var exitStatus: ExitStatus { .usage }

  public var description: String {
    "\(message)\nhelp:  " + ([command.first ?? "", "help"] + command.dropFirst()).joined(separator: " ")
  }
}

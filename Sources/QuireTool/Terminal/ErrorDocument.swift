import QuireShell
import Synchronization

/// An error that says more to programs than its status and its text.
protocol DetailedError: Error {
  var details: [(String, JSON)] { get }
}

extension JSON {
  /// What a command prints of an error if `--json` was given.
  ///
  /// - Parameter told: The error in the command's words.
  init(_ error: any Error, _ told: any CommandError) {
    self = .object([("v", 1), JSON.member(error, told)])
  }

  /// The error alone, for a document that has an answer, too.
  static func member(_ error: any Error, _ told: any CommandError) -> (String, JSON) {
    let members: [(String, JSON)] = [
      ("status", .integer(Int(told.exitStatus.rawValue))), ("message", .string(told.description)),
    ]
    let details = (error as? any DetailedError)?.details ?? []
    return ("error", .object(members + details))
  }
}

/// Whether a command has written any of its answer: an error that comes later would be a second document behind it.
final class AnswerWatch: Sendable {
  private let begun = Atomic(false)

  var hasBegun: Bool { begun.load(ordering: .relaxed) }

  func watching(_ terminal: Terminal) -> Terminal {
    var terminal = terminal
    let output = terminal.output
    terminal.output = Terminal.Stream(isTerminal: output.isTerminal, usesColor: output.usesColor) { text in
      self.begun.store(true, ordering: .relaxed)
      output.write(text)
    }
    terminal.output.writeBytes = { bytes in
      self.begun.store(true, ordering: .relaxed)
      output.writeBytes(bytes)
    }
    return terminal
  }
}

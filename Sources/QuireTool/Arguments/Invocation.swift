/// One call of a command: its arguments and options by name, and its terminal.
public struct Invocation: Sendable {
  /// From the program's name on.
  public let command: [String]
  /// Where answers, messages and questions go.
  public let terminal: Terminal
  /// The variables of the call.
  public let environment: Environment
  /// Whether the process is there for this call alone: what it does may keep the main thread, and with it the main actor.
  let isWholeProcess: Bool
  let options: [Option]
  var values: [String: [String]] = [:]
  var words: [String: [String]] = [:]
  /// What was given, in that order: options with their values, and bare words.
  var given: [(option: String?, value: String?)] = []

  init(
    command: [String], options: [Option], terminal: Terminal, environment: Environment, isWholeProcess: Bool
  ) {
    self.isWholeProcess = isWholeProcess
    self.command = command
    self.options = options
    self.terminal = terminal
    self.environment = environment
  }

  /// The value of an option: from the command line, or else from its environment variable if that is not empty.
  public subscript(option: String) -> String? {
    if let value = values[option]?.last { return value }
    guard let variable = options.first(where: { $0.name == option })?.environment else { return nil }
    return environment[variable].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Every value of an option that may be repeated, in order.
  public func values(_ option: String) -> [String] { values[option] ?? [] }

  /// Whether a flag was given.
  public func flag(_ option: String) -> Bool { values[option] != nil }

  /// The value of an option that takes a whole number in `range`.
  public func integer(_ option: String, in range: ClosedRange<Int> = 0...Int.max) throws(UsageError) -> Int? {
    guard let text = self[option] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      let bounds =
        range.upperBound == .max ? "from \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
      throw usageError("\(option) takes a whole number \(bounds), not ‘\(text)’")
    }
    return number
  }

  /// The word at an argument's place.
  public func argument(_ name: String) -> String? { words[name]?.first }

  /// All words of an argument that takes many.
  public func arguments(_ name: String) -> [String] { words[name] ?? [] }

  /// The whole command line, to paste, with this value of an option.
  func repeated(_ option: String, _ value: String) -> String {
    let others = given.filter { $0.option != option }.flatMap {
      [$0.option, $0.value.map(shellQuoted)].compactMap(\.self)
    }
    return (command + [option, value] + others).joined(separator: " ")
  }

  /// An error about the words of this call, which names the help of its command. It is returned, not thrown.
  public func usageError(_ message: String) -> UsageError { UsageError(message, command: command) }
}

/// One key press, or one paste, as reported by a terminal.
public struct Key: Hashable, Sendable {
  public var code: Code
  public var modifiers: Modifiers

  public enum Code: Hashable, Sendable {
    /// What was typed; with Control or Alt a single character, letters small.
    case text(String)
    /// Text that came in brackets: its line ends are `\n`, and of control characters it holds those and tabs only.
    case paste(String)
    case enter, tab, backspace, delete, insert, escape
    case up, down, left, right, home, end, pageUp, pageDown
    /// A sequence that means nothing here, taken whole so that none of it is typed.
    case unknown
  }

  /// Shift is reported only for keys that type nothing.
  public struct Modifiers: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let shift = Modifiers(rawValue: 1)
    public static let alt = Modifiers(rawValue: 2)
    public static let control = Modifiers(rawValue: 4)
  }

  public init(_ code: Code, _ modifiers: Modifiers = []) {
    self.code = code
    self.modifiers = modifiers
  }

  public static func text(_ text: String) -> Key { Key(.text(text)) }
  public static func control(_ letter: String) -> Key { Key(.text(letter), .control) }
  public static func alt(_ letter: String) -> Key { Key(.text(letter), .alt) }
}

/// What the editor needs to know of the language that is typed, provided by the caller.
///
/// Positions in text are offsets into its UTF-8. The closures are called on the editing thread, at every key, so they
/// must return quickly.
public struct Language {
  /// The styles of a text. Spans may be in any order; if two overlap, the later one applies.
  public var highlight: (String) -> [Span]
  /// The candidates at a position of a text.
  public var complete: (String, Int) -> Completions
  /// The probable continuation of a text, shown in gray and accepted with →. If nil, the newest entry of the history
  /// that begins with the text is used.
  public var hint: (String) -> String?
  /// Whether Enter runs the text, or begins a new line of it.
  public var isComplete: (String) -> Bool
  /// Whether a line belongs to a text that is complete without it. Asked where lines are read without an editor, of the
  /// next line if it is there already.
  package var continues: (_ text: String, _ line: String) -> Bool = { _, _ in false }

  public init(
    highlight: @escaping (String) -> [Span] = { _ in [] },
    complete: @escaping (String, Int) -> Completions = { _, place in Completions(place..<place, []) },
    hint: @escaping (String) -> String? = { _ in nil }, isComplete: @escaping (String) -> Bool = { _ in true }
  ) {
    self.highlight = highlight
    self.complete = complete
    self.hint = hint
    self.isComplete = isComplete
  }
}

/// A piece of a text in a style.
public struct Span: Hashable, Sendable {
  public var range: Range<Int>
  public var style: Style
  /// Whether brackets in it are text, as in a string or a comment.
  public var isLiteral: Bool

  public init(_ range: Range<Int>, _ style: Style, isLiteral: Bool = false) {
    self.range = range
    self.style = style
    self.isLiteral = isLiteral
  }
}

/// The candidates for a part of a text.
public struct Completions: Hashable, Sendable {
  /// What is replaced.
  public var range: Range<Int>
  public var candidates: [Candidate]

  public struct Candidate: Hashable, Sendable {
    public var text: String
    /// Shown beside it, such as a type.
    public var detail: String

    public init(_ text: String, _ detail: String = "") {
      self.text = text
      self.detail = detail
    }
  }

  public init(_ range: Range<Int>, _ candidates: [Candidate]) {
    self.range = range
    self.candidates = candidates
  }
}

/// How a piece of text looks: the parameters of the terminal's SGR sequence.
public struct Style: Hashable, Sendable, ExpressibleByStringLiteral {
  /// Such as `1;34`; empty for plain text.
  public let parameters: String

  public init(stringLiteral value: String) { parameters = value }

  public static let plain: Style = ""
  public static let bold: Style = "1"
  public static let dim: Style = "2"
  public static let underlined: Style = "4"
  public static let reverse: Style = "7"
  public static let red: Style = "31"
  public static let green: Style = "32"
  public static let yellow: Style = "33"
  public static let blue: Style = "34"
  public static let magenta: Style = "35"
  public static let cyan: Style = "36"

  /// Both, such as `.bold.and(.red)`.
  public func and(_ other: Style) -> Style {
    Style(stringLiteral: [parameters, other.parameters].filter { !$0.isEmpty }.joined(separator: ";"))
  }

  /// `text` in this style.
  public func callAsFunction(_ text: String) -> String {
    parameters.isEmpty || text.isEmpty ? text : "\u{1B}[\(parameters)m\(text)\u{1B}[0m"
  }
}

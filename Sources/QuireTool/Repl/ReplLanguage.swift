import LineEditor
import QuireShell

extension Language {
  /// A session's knowledge of the input language.
  init(_ session: ShellSession) {
    self.init(
      highlight: { text in
        session.spans(text).map { span in
          Span(span.range, Paint.style(of: span.kind), isLiteral: span.kind == .text || span.kind == .comment)
        }
      },
      complete: { text, place in
        let completions = session.completions(text, at: place)
        return Completions(
          completions.range, completions.candidates.map { .init(printable($0.text), printable($0.detail)) })
      },
      isComplete: { session.isComplete($0) })
  }
}

/// Colors, if they are enabled.
struct Paint: Sendable {
  let usesColor: Bool

  func callAsFunction(_ text: String, _ style: Style) -> String { usesColor ? style(text) : text }

  static func style(of kind: InputSpan.Kind) -> Style {
    switch kind {
    case .keyword: .blue
    case .model: .bold
    case .name: .plain
    case .unknown: .red
    case .text: .green
    case .number, .parameter: .magenta
    case .comment: .dim
    case .command: .cyan
    }
  }
}

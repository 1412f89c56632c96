import LineEditor
import QuireShell

extension Repl {
  func show(_ reply: Reply) {
    switch reply {
    case .answer(let answer): show(answer)
    case .card(let card):
      CardLines(card, paint).lines.forEach { say($0) }
      if session.settings.showsTime { say(paint(card.elapsed.spoken, .dim)) }
    case .streamed(let rows, _, let elapsed):
      say(paint("\(rows.grouped) \(rows == 1 ? "row" : "rows") · \(elapsed.spoken)", .dim))
    case .written(let text, _): say(wrapped: printable(text, keepingLines: true))
    case .lines(let lines): show(lines.map { printable(sql: $0) })
    case .live(let plan): follow(plan)
    case .endLive(let numbers): end(numbers)
    case .listLive: list()
    case .listHistory: show(editor.history.entries.suffix(200).map { printable($0) }, fromEnd: true)
    case .opened(let banner): banner.forEach { say($0) }
    case .quit: break
    }
  }

  /// - Parameter fromEnd: Whether the last lines are looked at first.
  private func show(_ lines: [String], fromEnd: Bool = false) {
    guard editor.isInteractive else { return lines.forEach { say($0) } }
    let lines = lines.flatMap { wrappedColumns($0, to: editor.size.columns) }
    guard lines.count > editor.size.rows - 2 else { return lines.forEach { say($0) } }
    Pager(headerHeight: 0, count: lines.count, footer: "", beginsAtEnd: fromEnd) { Array(lines[$0]) }.run(editor, paint)
  }

  private func show(_ answer: Answer) {
    let settings = session.settings
    var footer = printable(answer.footer(settings))
    if answer.rows.isEmpty { return say(wrapped: footer, .dim) }
    guard settings.format == .table, !settings.isWide else { return write(answer, settings, footer) }
    let size = editor.size
    var table = AnswerTable(answer, width: editor.isInteractive ? size.columns : nil, paint: paint)
    if table.hiddenCount > 0 {
      footer += " · \(table.hiddenCount.grouped) \(table.hiddenCount == 1 ? "column" : "columns") more (.wide)"
    }
    // With the header, the footer, and the prompt below.
    if editor.isInteractive, !settings.showsAll, table.rowCount > size.rows - 3 {
      var columns = size.columns
      Pager(headerHeight: 1, count: table.rowCount, footer: footer) { [editor, paint] range in
        if editor.size.columns != columns {
          columns = editor.size.columns
          table = AnswerTable(answer, width: columns, paint: paint)
        }
        return table.lines(in: range)
      }.run(editor, paint)
    } else {
      table.lines(in: 0..<table.rowCount).forEach { say($0) }
      say(wrapped: footer, .dim)
    }
  }

  /// In a format other than a table.
  private func write(_ answer: Answer, _ settings: ShellSettings, _ footer: String) {
    var style = AnswerStyle()
    style.isTerminal = true
    style.width = displayWidth
    style.columns = editor.size.columns
    let output = RowOutput(settings.isWide ? .line : settings.format, style: style) { [terminal] in
      terminal.output.writeBytes($0)
    }
    do {
      try session.write(answer, to: output)
      say(wrapped: footer, .dim)
    } catch {
      say(error: "\(error)")
    }
  }
}

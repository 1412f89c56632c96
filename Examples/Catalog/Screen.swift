import Quire

/// The views put together on eighty columns, each with its count; what has just been evaluated stands out.
@MainActor final class Screen {
  private let desk: Desk
  private let views: Views
  /// Whether to mark with colors, or with signs for a file.
  private let isStyled: Bool
  private var statementsDrawn = 0

  init(_ views: Views, _ desk: Desk, isStyled: Bool) {
    self.views = views
    self.desk = desk
    self.isStyled = isStyled
  }

  private static let left = 51
  private static let right = 27

  /// Whether anything has been evaluated since it was drawn last.
  var isBehind: Bool { views.all.contains(where: \.isNew) }

  /// The whole screen, line by line; what is evaluated from now on is new at the next call.
  func draw() -> [String] {
    let width = Self.left + 2 + Self.right
    let rule = String(repeating: "─", count: Self.left) + "┬" + String(repeating: "─", count: Self.right + 1)
    var lines = [
      bold(("Catalog · " + views.head.lines[0]).fitted(to: width - 10)) + label("head", views.head, width: 10),
      dim(rule),
      bold("Books by title".fitted(to: Self.left - 10)) + label("list", views.list, width: 10) + dim("│ ")
        + bold("The book".fitted(to: Self.right - 12)) + label("detail", views.detail, width: 12),
    ]
    let place = Int(views.cursor.lines[0])
    for index in 0..<Desk.shown {
      let detail = index < views.detail.lines.count ? views.detail.lines[index] : ""
      var row = String(repeating: " ", count: Self.left)
      if index < views.rows.count {
        let view = views.rows[index].view
        let text = (index == place ? "› " : "  ") + view.lines[0]
        row = (index == place ? bold(text) : text) + label("", view, width: Self.left - text.columns)
      }
      lines.append(row + dim("│ ") + detail.fitted(to: Self.right))
    }
    lines.append(dim(rule.replacing("┬", with: "┴")))
    lines.append(views.edit.lines[0].fittedAtEnd(to: width - 10) + label("edit", views.edit, width: 10))
    lines.append(dim(summary))
    for view in views.all { view.noteDrawn() }
    statementsDrawn = desk.statements
    return lines
  }

  /// What has been evaluated since the screen was drawn last, and what the live results have asked the file for it.
  private var summary: String {
    let rows = views.rows.count { $0.view.isNew }
    var parts = rows == 0 ? [] : [rows == 1 ? "1 row" : "\(rows) rows"]
    for (name, view) in [
      ("list", views.list), ("cursor", views.cursor), ("detail", views.detail), ("head", views.head),
      ("edit", views.edit),
    ] where view.isNew {
      parts.append(name)
    }
    return "evaluated: " + (parts.isEmpty ? "nothing" : parts.joined(separator: ", "))
      + " · statements run: \(desk.statements - statementsDrawn)"
  }

  /// How often a view was evaluated, marked where that has just gone up.
  private func label(_ name: String, _ view: View, width: Int) -> String {
    let text = name + " \(view.evaluations)" + (view.isNew && !isStyled ? "•" : " ")
    let padded = String(repeating: " ", count: max(0, width - text.count)) + text
    return view.isNew ? styled(padded, "1;33") : dim(padded)
  }

  // MARK: Style

  private func bold(_ text: String) -> String { styled(text, "1") }
  private func dim(_ text: String) -> String { styled(text, "2") }
  private func styled(_ text: String, _ code: String) -> String { isStyled ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}

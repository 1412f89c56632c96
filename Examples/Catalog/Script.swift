import Quire

/// Commands in place of keys, one on a line, and the screen after each: for tests, and to look at without a terminal.
///
///     down 2
///     title Ivanhoe, a Romance
///     author Sir Walter Scott
///     lend
///     delete
///     sql UPDATE book SET year = 1820 WHERE title = 'Ivanhoe'
@MainActor struct Script {
  let desk: Desk
  let views: Views
  let screen: Screen

  init(_ store: ModelContainer) throws {
    desk = try Desk(store)
    views = Views(desk)
    screen = Screen(views, desk, isStyled: false)
  }

  /// Runs them, and gives the first screen and that after each.
  func run(_ commands: some Sequence<String>) async -> [String] {
    var output = await draw()
    for command in commands where !command.allSatisfy(\.isWhitespace) {
      perform(command)
      output += ["", "> \(command)", ""]
      output += await draw()
    }
    return output
  }

  private func draw() async -> [String] {
    await views.settle()
    return screen.draw().map { line in
      String(line.reversed().drop { $0 == " " }.reversed())
    }
  }

  private func perform(_ command: String) {
    let words = command.split(separator: " ", maxSplits: 1)
    let rest = words.count > 1 ? String(words[1]) : ""
    switch words[0] {
    case "down": for _ in 0..<(Int(rest) ?? 1) { desk.move(by: 1) }
    case "up": for _ in 0..<(Int(rest) ?? 1) { desk.move(by: -1) }
    case "title": desk.retitle(rest)
    case "author": desk.renameAuthor(rest)
    case "lend": desk.lend()
    case "delete": desk.delete()
    case "sql": desk.run(SQL(verbatim: rest))
    default: desk.problem = "no command is called \(words[0])"
    }
  }
}

/// The text of `.help`.
enum ShellHelp {
  static var lines: [String] {
    let commands = ShellCommand.all.map { command in
      (
        ".\(command.name) \(command.argument)",
        command.help + (command.others.isEmpty ? "" : "  " + command.others.joined(separator: " "))
      )
    }
    let width = commands.map(\.0.count).max() ?? 0
    return language
      + commands.map { "  " + $0.0 + String(repeating: " ", count: width - $0.0.count + 2) + $0.1 }
  }

  private static let language = [
    "Ask  Book                                        the newest rows",
    "     Book 12                                     one row, with what it leads to",
    "     Book where author.name = \"Lem\" and year > 1960 order by title limit 20",
    "     Book where count(tags) > 2                  lists: count, any(… where …), none, all, sum, avg, min, max",
    "     Book select title, author.name where …      some values",
    "     Author 2 .books      _3.author              follow a relation; _3 is row 3 of the last answer",
    "     live QUERY   explain QUERY   count QUERY   sql QUERY   summary QUERY",
    "SQL  anything SQLite takes, ended by ;",
    "Write (after .write)   Book where id = 12 set price = 9.5    insert Book { title: \"Eden\", author: Author 2 }",
    "     delete Book where …      undo   redo   begin … commit | rollback",
    "",
  ]
}

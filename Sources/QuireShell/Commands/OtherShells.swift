/// Hints for users of other shells, if something is done differently here.
enum OtherShells {
  /// For an unknown command, such as `.read` or `\e`.
  static func hint(forCommand name: String) -> String? {
    switch name {
    case "ir": ".read FILE runs a file"
    case "headers", "header": "quire query --no-header leaves the names out"
    case "separator": ".as csv and .as tsv have one each; .import FILE MODEL --separator ';' reads another"
    case "nullvalue", "width", "pset", "f", "t", "H": ".as has the formats"
    case "databases", "l": "pragma database_list; .open FILE goes on with another file"
    case "e", "edit": "Ctrl-X Ctrl-E edits the text"
    case "!", "shell", "system": "Ctrl-Z goes to the shell, and fg comes back"
    case "eqp", "scanstats", "stats", "explain": "explain QUERY"
    case "export": ".save FILE QUERY writes an answer"
    case "backup", "clone": "quire backup FILE COPY copies the file, while others write to it too"
    case "restore": "quire migrate restore puts back a backup that a migration made; any other is a file to be copied"
    case "fullschema": ".schema"
    case "parameter", "bind": ".set NAME VALUE"
    case "summary", "summarize": "summary QUERY says what each column has"
    case "changes": "each write says how many rows it changed"
    case "bail", "echo", "prompt", "timeout", "binary", "log", "trace", "trim", "limit", "load", "cd", "recover",
      "archive", "sha3sum", "lint", "conninfo", "du", "dn", "df":
      "the sqlite3 program has more of this kind"
    default: nil
    }
  }

  /// For statements of other databases.
  static let statements: [String: String] = [
    "show": ".tables lists tables, .indexes indexes", "describe": ".schema NAME", "desc": ".schema NAME",
    "use": ".open FILE goes on with another file",
  ]

  /// For words and signs of other languages in a query of models.
  static let words: [String: String] = [
    "sort": "did you mean order by?", "orderby": "did you mean order by?", "descending": "did you mean desc?",
    "ascending": "did you mean asc?", "filter": "did you mean where?", "&": "did you mean and?",
    "|": "did you mean or?", "≥": "did you mean >=?", "≤": "did you mean <=?", "≠": "did you mean !=?",
    "!": "did you mean not?", "~": "regexp \"^The\" compares with a regular expression",
    "ilike": "like is without regard to the case of A to Z",
    "rlike": "regexp \"^The\" compares with a regular expression",
    "starts": "like \"The%\" compares with a pattern", "startswith": "like \"The%\" compares with a pattern",
    "ends": "like \"%s\" compares with a pattern", "join": "a path follows a relation: author.name",
  ]

  /// For functions that SQLite has by another name.
  static let functions = [
    "average": "avg", "mean": "avg", "len": "length", "size": "count", "lowercase": "lower", "uppercase": "upper",
  ]
}

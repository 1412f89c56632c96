public import QuireRow

/// SQL with the values it is about, written as one text.
///
///     let recent: SQL = "SELECT title FROM book WHERE year > \(year) AND language IN \(list: ["pol", "eng"])"
///
/// What is put in by `\(…)` is bound and never becomes SQL: a `String` is text, whatever it says. A name goes in quoted,
/// as `\(identifier: column)`, and a part of a statement as `\(part)` where that is `SQL` itself. Text made at run time
/// becomes SQL by ``init(verbatim:_:named:)`` only.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
  public private(set) var text: String
  /// What each `?` stands for, in order.
  public private(set) var arguments: [Value]
  /// Values of named parameters such as `:year`, by name with sigil.
  public private(set) var named: [String: Value]
  /// The first value or name that cannot stand in SQL, such as NaN: thrown where the statement is used.
  public private(set) var failure: (any Error & Sendable)?

  /// The text as it is. Whoever writes it can read everything in the database: it must not come from outside.
  public init(verbatim text: String, _ arguments: [Value] = [], named: [String: Value] = [:]) {
    self.text = text
    self.arguments = arguments
    self.named = named
  }

  public init(stringLiteral text: String) { self.init(verbatim: text) }

  public init(stringInterpolation parts: Interpolation) { self = parts.sql }

  public struct Interpolation: StringInterpolationProtocol {
    fileprivate var sql = SQL(verbatim: "")

    public init(literalCapacity: Int, interpolationCount: Int) {}

    public mutating func appendLiteral(_ text: String) { sql.text += text }

    /// A value, bound.
    public mutating func appendInterpolation(_ value: some StoredValue) {
      sql.text += "?"
      bind(value)
    }

    /// A value, bound; NULL for nil.
    public mutating func appendInterpolation(_ value: (some StoredValue)?) {
      sql.text += "?"
      bind(value)
    }

    public mutating func appendInterpolation(_ value: Value) {
      sql.text += "?"
      sql.arguments.append(value)
    }

    /// Values in parentheses, as `IN` wants them.
    public mutating func appendInterpolation(list values: some Sequence<some StoredValue>) {
      var count = 0
      for value in values {
        bind(value)
        count += 1
      }
      sql.text += "(" + Array(repeating: "?", count: count).joined(separator: ", ") + ")"
    }

    /// The name of a table or column, quoted.
    public mutating func appendInterpolation(identifier name: String) {
      do {
        sql.text += try quoted(identifier: name)
      } catch {
        sql.failure = sql.failure ?? error
      }
    }

    /// A part of the statement, with its own values.
    public mutating func appendInterpolation(_ part: SQL) {
      sql.text += part.text
      sql.arguments += part.arguments
      sql.named.merge(part.named) { _, new in new }
      sql.failure = sql.failure ?? part.failure
    }

    private mutating func bind(_ value: some StoredValue) {
      do {
        sql.arguments.append(try Value(storing: value))
      } catch {
        sql.arguments.append(.null)
        sql.failure = sql.failure ?? error
      }
    }
  }
}

public import QuireRow

/// An SQL statement, or a part of one, with its values.
///
///     let recent: SQL = "SELECT title FROM book WHERE year > \(year) AND language IN \(list: ["pol", "eng"])"
///
/// Values interpolated with `\(…)` are bound and never become SQL: a `String` is text, whatever it contains. A name is
/// interpolated in quotes, as `\(identifier: column)`, and a part of a statement as `\(part)` if that is itself `SQL`.
/// Only ``init(verbatim:_:named:)`` turns text made at run time into SQL. Models, their properties and objects become
/// their names and keys in the file, and a predicate the rows it accepts:
///
///     let shelf: SQL = """
///       SELECT \(\Book.title) FROM \(Book.self) WHERE \(\Book.author) = \(lem)
///       AND \(\Book.persistentModelID) IN \(keysOf: Book.self, where: #Predicate { $0.rating > 4 })
///       """
///
/// These are resolved by the container, context or transaction that runs the statement, for its own store.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
  private(set) var parts: [Part]
  /// Values of named parameters such as `:year`, by name with sigil.
  public private(set) var named: [String: SQLValue]
  /// The error of the first value or name that cannot be used in SQL, such as NaN; thrown when the statement is used.
  package private(set) var failure: (any Error & Sendable)?

  enum Part: Sendable {
    case text(SQLText)
    /// A part that depends on a store's models, with its name until then.
    case model(name: String, @Sendable (any SQLModels) throws -> SQLText)
  }

  /// SQL text made at run time, used as it is, with values for its `?` and for its named parameters.
  ///
  /// The text can do anything that SQL can: it must not contain untrusted input.
  public init(verbatim text: String, _ arguments: [SQLValue] = [], named: [String: SQLValue] = [:]) {
    parts = [.text(SQLText(text, arguments))]
    self.named = named
  }

  public init(stringLiteral text: String) { self.init(verbatim: text) }

  public init(stringInterpolation parts: Interpolation) { self = parts.sql }

  /// The statement's text; parts that depend on a store appear as `‹Book.title›`.
  public var text: String {
    parts.map { part in
      switch part {
      case .text(let text): text.text
      case .model(let name, _): "‹\(name)›"
      }
    }.joined()
  }

  /// The values of the `?` in ``text``, in order.
  public var arguments: [SQLValue] {
    parts.flatMap { part -> [SQLValue] in if case .text(let text) = part { text.bindings } else { [] } }
  }

  /// The statement for a store.
  ///
  /// - Parameter models: Nil if none are known, which is an error for a statement that refers to one.
  /// - Throws: The error of a part that cannot be used, and ``QuireModel/ModelError`` for a model or column that the
  ///   store does not have.
  package func statement(in models: (any SQLModels)?) throws -> SQLText {
    if let failure { throw failure }
    var statement = SQLText()
    for part in parts {
      let text =
        switch part {
        case .text(let text): text
        case .model(let name, let write):
          if let models { try write(models) } else { throw StatementError.noModels(name) }
        }
      statement.text += text.text
      statement.bindings += text.bindings
    }
    return statement
  }

  /// What an ``SQL`` literal can interpolate.
  public struct Interpolation: StringInterpolationProtocol {
    var sql = SQL(verbatim: "")

    public init(literalCapacity: Int, interpolationCount: Int) {}

    public mutating func appendLiteral(_ text: String) { sql.parts.append(.text(SQLText(text))) }

    /// A value, bound; NULL for nil.
    public mutating func appendInterpolation(_ value: (some StoredValue)?) { append("?", [bound(value)]) }

    /// A column value, bound.
    public mutating func appendInterpolation(_ value: SQLValue) { append("?", [value]) }

    /// A list of bound values in parentheses, for `IN`.
    public mutating func appendInterpolation(list values: some Sequence<some StoredValue>) {
      append(list: values.map { bound($0) })
    }

    /// The name of a table or column, quoted.
    public mutating func appendInterpolation(identifier name: String) {
      do {
        append(try quoted(identifier: name), [])
      } catch {
        sql.failure = sql.failure ?? error
      }
    }

    /// A part of the statement, with its own values.
    public mutating func appendInterpolation(_ part: SQL) {
      sql.parts += part.parts
      sql.named.merge(part.named) { _, new in new }
      sql.failure = sql.failure ?? part.failure
    }

    private mutating func append(_ text: String, _ values: [SQLValue]) {
      sql.parts.append(.text(SQLText(text, values)))
    }

    private mutating func append(list values: [SQLValue]) {
      append("(" + Array(repeating: "?", count: values.count).joined(separator: ", ") + ")", values)
    }

    private mutating func bound(_ value: some StoredValue) -> SQLValue {
      do {
        return try SQLValue(storing: value)
      } catch {
        sql.failure = sql.failure ?? error
        return .null
      }
    }

    /// A part that depends on the models of a store, resolved when the statement is used.
    package mutating func append(_ name: String, _ write: @escaping @Sendable (any SQLModels) throws -> SQLText) {
      sql.parts.append(.model(name: name, write))
    }
  }
}

/// The models of a store, by which statements refer to tables, columns and rows.
package protocol SQLModels: AnyObject, Sendable {}

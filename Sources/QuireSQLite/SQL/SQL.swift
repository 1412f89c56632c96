public import QuireRow

/// SQL with the values it is about, written as one text.
///
///     let recent: SQL = "SELECT title FROM book WHERE year > \(year) AND language IN \(list: ["pol", "eng"])"
///
/// What is put in by `\(…)` is bound and never becomes SQL: a `String` is text, whatever it says. A name goes in quoted,
/// as `\(identifier: column)`, and a part of a statement as `\(part)` where that is `SQL` itself. Text made at run time
/// becomes SQL by ``init(verbatim:_:named:)`` only. Models, their properties and objects stand for what they are in the
/// file, and a predicate for the rows it accepts:
///
///     let shelf: SQL = """
///       SELECT \(\Book.title) FROM \(Book.self) WHERE \(\Book.author) = \(lem)
///       AND \(\Book.persistentModelID) IN \(keysOf: Book.self, where: #Predicate { $0.rating > 4 })
///       """
///
/// These are written out by the container, context or transaction that uses the statement, in terms of its store.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
  private(set) var parts: [Part]
  /// Values of named parameters such as `:year`, by name with sigil.
  public private(set) var named: [String: SQLValue]
  /// The first value or name that cannot stand in SQL, such as NaN: thrown where the statement is used.
  package private(set) var failure: (any Error & Sendable)?

  enum Part: Sendable {
    case text(SQLText)
    /// What only a store of models tells, and what stands for it until then.
    case model(name: String, @Sendable (any SQLModels) throws -> SQLText)
  }

  /// Text made at run time, as it is, with values for its `?` and for its named parameters.
  ///
  /// The text can do all that SQL can: it must not contain anything from outside.
  public init(verbatim text: String, _ arguments: [SQLValue] = [], named: [String: SQLValue] = [:]) {
    parts = [.text(SQLText(text, arguments))]
    self.named = named
  }

  public init(stringLiteral text: String) { self.init(verbatim: text) }

  public init(stringInterpolation parts: Interpolation) { self = parts.sql }

  /// The statement; what only a store tells stands in it as `‹Book.title›`.
  public var text: String {
    parts.map { part in
      switch part {
      case .text(let text): text.text
      case .model(let name, _): "‹\(name)›"
      }
    }.joined()
  }

  /// What each `?` of ``text`` stands for, in order.
  public var arguments: [SQLValue] {
    parts.flatMap { part -> [SQLValue] in if case .text(let text) = part { text.bindings } else { [] } }
  }

  /// The statement in terms of a store.
  ///
  /// - Parameter models: Nil if none are known, which is an error for a statement that names one.
  /// - Throws: what could not go into it, and ``QuireModel/ModelError`` for what is no model or column of the store's.
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

  /// What may stand in `\(…)` of an ``SQL`` literal.
  public struct Interpolation: StringInterpolationProtocol {
    var sql = SQL(verbatim: "")

    public init(literalCapacity: Int, interpolationCount: Int) {}

    public mutating func appendLiteral(_ text: String) { sql.parts.append(.text(SQLText(text))) }

    /// A value, bound.
    public mutating func appendInterpolation(_ value: some StoredValue) { append("?", [bound(value)]) }

    /// A value, bound; NULL for nil.
    public mutating func appendInterpolation(_ value: (some StoredValue)?) { append("?", [bound(value)]) }

    /// A value as a column has it, bound.
    public mutating func appendInterpolation(_ value: SQLValue) { append("?", [value]) }

    /// Values in parentheses, as `IN` wants them.
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

    /// What a store of models tells when the statement is used.
    package mutating func append(_ name: String, _ write: @escaping @Sendable (any SQLModels) throws -> SQLText) {
      sql.parts.append(.model(name: name, write))
    }
  }
}

/// The models of a store, by which statements name tables, columns and rows.
package protocol SQLModels: Sendable {}

package import Foundation
public import QuireRow
public import QuireSQLite

extension _Quire {
  /// A form that is one column holding a value.
  public protocol ColumnForm<Value>: PropertyForm {
    static func write(_ value: Value, to statement: Statement, at index: Int32) throws(ValueError)
    /// The value that a column holds.
    static func value(of column: SQLValue) throws(ValueError) -> Value
  }

  /// A property whose type is a ``StoredValue`` that the macro did not know by name.
  ///
  /// As in the forms of relationships, the methods require the conformance, not the type: for a generic type the
  /// runtime proves a conformance by walking all conformances of a program, a tenth of a millisecond for each type.
  public enum ValueForm<Value> {}
}

extension _Quire.ValueForm: _Quire.PropertyForm, _Quire.ColumnForm where Value: StoredValue {
  public static var kind: _Quire.PropertyDefinition.Kind {
    .value(
      Value._columnType, isOptional: Value._isOptional,
      check: Value.self == Bool.self || Value.self == Bool?.self ? "? IN (0, 1)" : nil)
  }
  public static func read(_ row: inout _Quire.RowCursor) throws(ValueError) -> _Quire.Slot<Value> {
    _Quire.Slot(try row.next(Value.self))
  }
  public static func write(_ value: Value, to statement: _Quire.Statement, at index: Int32) throws(ValueError) {
    try value._write(to: statement, at: index)
  }
  public static func value(of column: SQLValue) throws(ValueError) -> Value {
    try Value._read(from: ImageSource([column]), at: 0)
  }
}

extension _Quire {
  /// An enum or struct with a stored raw value, such as `enum Genre: String, Codable`: the column holds the raw value.
  public enum RawForm<Value: RawRepresentable>: ColumnForm where Value.RawValue: StoredValue {
    public static var kind: PropertyDefinition.Kind {
      .value(Value.RawValue._columnType, isOptional: false, check: nil)
    }
    public static func read(_ row: inout RowCursor) throws(ValueError) -> Slot<Value> {
      let raw = try row.next(Value.RawValue.self)
      return Slot(try value(raw, row.position - 1))
    }
    public static func value(of column: SQLValue) throws(ValueError) -> Value {
      try value(Value.RawValue._read(from: ImageSource([column]), at: 0), 0)
    }
    private static func value(_ raw: Value.RawValue, _ column: Int32) throws(ValueError) -> Value {
      if let value = Value(rawValue: raw) { return value }
      throw ValueError.notA(type: "\(Value.self)", column: column, found: "\(raw)")
    }
    public static func write(_ value: Value, to statement: Statement, at index: Int32) throws(ValueError) {
      try value.rawValue._write(to: statement, at: index)
    }
  }

  /// ``RawForm``, or NULL.
  public enum OptionalRawForm<Wrapped: RawRepresentable>: ColumnForm where Wrapped.RawValue: StoredValue {
    public typealias Value = Wrapped?
    public static var kind: PropertyDefinition.Kind {
      .value(Wrapped.RawValue._columnType, isOptional: true, check: nil)
    }
    public static func read(_ row: inout RowCursor) throws(ValueError) -> Slot<Wrapped?> {
      guard let raw = try row.next(Wrapped.RawValue?.self) else { return Slot(Wrapped?.none) }
      return Slot(try value(raw, row.position - 1))
    }
    public static func value(of column: SQLValue) throws(ValueError) -> Wrapped? {
      if column == .null { return nil }
      return try value(Wrapped.RawValue._read(from: ImageSource([column]), at: 0), 0)
    }
    private static func value(_ raw: Wrapped.RawValue, _ column: Int32) throws(ValueError) -> Wrapped {
      if let value = Wrapped(rawValue: raw) { return value }
      throw ValueError.notA(type: "\(Wrapped.self)", column: column, found: "\(raw)")
    }
    public static func write(_ value: Wrapped?, to statement: Statement, at index: Int32) throws(ValueError) {
      if let value { try value.rawValue._write(to: statement, at: index) } else { statement.bindNull(index) }
    }
  }

  /// Any other Codable type, as JSON text with sorted keys, so that equal values are equal text; nil is NULL. Numbers
  /// that JSON does not have are the texts `inf`, `-inf` and `nan`.
  public enum JSONForm<Value: Codable>: ColumnForm {
    public static var kind: PropertyDefinition.Kind {
      .value(.text, isOptional: Value.self is any ExpressibleByNilLiteral.Type, check: nil)
    }
    public static func read(_ row: inout RowCursor) throws(ValueError) -> Slot<Value> {
      if let null = Value.self as? any ExpressibleByNilLiteral.Type, row.isNull(row.position) {
        row.position += 1
        if let value = null.init(nilLiteral: ()) as? Value { return Slot(value) }
      }
      return Slot(try value(row.next(String.self), row.position - 1))
    }
    public static func value(of column: SQLValue) throws(ValueError) -> Value {
      if column == .null, let null = Value.self as? any ExpressibleByNilLiteral.Type,
        let value = null.init(nilLiteral: ()) as? Value
      {
        return value
      }
      return try value(String._read(from: ImageSource([column]), at: 0), 0)
    }
    private static func value(_ text: String, _ column: Int32) throws(ValueError) -> Value {
      do {
        return try JSONDecoder.ofColumns().decode(Value.self, from: Data(text.utf8))
      } catch {
        throw ValueError.notJSON(of: Value.self, text, column: column, error)
      }
    }
    public static func write(_ value: Value, to statement: Statement, at index: Int32) throws(ValueError) {
      if value as Any? == nil || isNil(value) {
        statement.bindNull(index)
        return
      }
      do {
        statement.bind(String(decoding: try JSONEncoder.ofColumns().encode(value), as: UTF8.self), at: index)
      } catch {
        throw ValueError.notStorable("\(Value.self)", reason: "\(error)")
      }
    }

    private static func isNil(_ value: Value) -> Bool {
      if case Optional<Any>.none = value as Any { return true }
      let mirror = Mirror(reflecting: value)
      return mirror.displayStyle == .optional && mirror.children.isEmpty
    }
  }
}

extension JSONEncoder {
  package static func ofColumns() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return encoder
  }
}

extension JSONDecoder {
  package static func ofColumns() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return decoder
  }
}

extension ValueError {
  /// Text of a column that is not the JSON of a type, with the place in it at which decoding has ended.
  package static func notJSON(of type: Any.Type, _ text: String, column: Int32, _ error: any Error) -> ValueError {
    let name = "\((type as? any AnyOptional.Type)?.wrapped ?? type)"
    let reason = (error as? DecodingError).flatMap(reason)
    return .notA(type: reason.map { "\(name): \($0)" } ?? name, column: column, found: String(text.prefix(40)))
  }

  private static func reason(_ error: DecodingError) -> String? {
    func place(_ path: [any CodingKey]) -> String {
      path.reduce(into: "") { text, key in
        text += key.intValue.map { "[\($0)]" } ?? (text.isEmpty ? key.stringValue : ".\(key.stringValue)")
      }
    }
    switch error {
    case .keyNotFound(let key, let context): return "\(place(context.codingPath + [key])) is missing"
    case .valueNotFound(let type, let context) where !context.codingPath.isEmpty:
      return "\(place(context.codingPath)) is null, and not \(type)"
    case .typeMismatch(let type, let context) where !context.codingPath.isEmpty:
      return "\(place(context.codingPath)) is not \(type)"
    case .dataCorrupted(let context) where !context.codingPath.isEmpty:
      return "\(place(context.codingPath)) is refused"
    default: return nil
    }
  }
}

extension _Quire {
  /// The result of `_Quire.form` for a type that no column can hold: it compiles everywhere except in a model's
  /// definition, so that such a property is reported once.
  ///
  /// A model's definition names ``property`` of each form, so that the compiler says the name of that, and none of what
  /// the macro calls.
  public enum UnstorableForm<Value> {
    @available(
      *, unavailable,
      message:
        "this type can't be stored: make it Codable, make it a @Model, or mark the property @Transient; a set of models is an array"
    )
    public static var property: Self.Type { self }
    @available(
      *, unavailable,
      message:
        "this type can't be stored: make it Codable, make it a @Model, or mark the property @Transient; a set of models is an array"
    )
    public static var constant: Self.Type { self }
    public static var kind: PropertyDefinition.Kind { .value(.any, isOptional: true, check: nil) }
    public static func vacant() -> Slot<Value> { Slot(link: Link()) }
    public static func get<Model: PersistentModel>(_ model: Model, _ property: Int, _ slot: Slot<Value>) -> Value {
      PlaceholderValue.required(Value.self, of: model, property: property)
    }
    public static func set<Model: PersistentModel>(
      _ model: Model, _ property: Int, _ keyPath: KeyPath<Model, Value>, from old: Slot<Value>, to new: Value,
      store: (Slot<Value>) -> Void
    ) {}
    static var refusal: ValueError { .notStorable("\(Value.self)", reason: "it is not Codable") }
  }
}

// MARK: Common to all values

extension _Quire.ColumnForm {
  /// The value that a column holds, of whatever type; nil if it does not decode.
  static func decoded(_ column: SQLValue) -> Any? { try? value(of: column) }

  public static func vacant() -> _Quire.Slot<Value> {
    if let zero = PlaceholderValue.make(Value.self) { return _Quire.Slot(zero) }
    return _Quire.Slot(link: _Quire.Link())
  }

  public static var hasPlaceholder: Bool { PlaceholderValue.make(Value.self) != nil }

  public static func get<Model: PersistentModel>(_ model: Model, _ property: Int, _ slot: _Quire.Slot<Value>) -> Value {
    if let value = slot.value { return value }
    return PlaceholderValue.required(Value.self, of: model, property: property)
  }

  public static func set<Model: PersistentModel>(
    _ model: Model, _ property: Int, _ keyPath: KeyPath<Model, Value>, from old: _Quire.Slot<Value>, to new: Value,
    store: (_Quire.Slot<Value>) -> Void
  ) {
    if let old = old.value, isIdentical(old, new) { return }
    guard _Quire.edit(model, property) else { return }
    guard let told = _Quire.willSet(model, property, keyPath, from: old.value ?? new, to: new) else { return }
    store(_Quire.Slot(new))
    _Quire.didSet(model, keyPath, told)
  }

  public static func bind(_ slot: _Quire.Slot<Value>, to statement: _Quire.Statement, at index: Int32)
    throws(ValueError)
  {
    guard let value = slot.value else { return statement.bindNull(index) }
    try write(value, to: statement, at: index)
  }

  public static func differ(_ a: _Quire.Slot<Value>, _ b: _Quire.Slot<Value>) -> Bool {
    guard let x = a.value, let y = b.value else { return (a.value == nil) != (b.value == nil) }
    return !isIdentical(x, y)
  }
}

// MARK: Constants

extension _Quire {
  /// The value of a `let` in an object without a row; a schema without such a value is refused.
  public static func zero<Model: PersistentModel, Value>(_ keyPath: KeyPath<Model, Value>) -> Value {
    let properties = Model._quireDefinition.properties
    return PlaceholderValue.required(
      Value.self, of: Model.self, property: properties.first { $0.keyPath == keyPath }?.name ?? "")
  }
}

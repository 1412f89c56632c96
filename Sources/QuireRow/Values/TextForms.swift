public import Foundation

/// `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`; reading accepts lowercase letters too.
extension UUID: StoredValue {
  public static var _columnType: _Quire.ColumnType { .text }

  public static func _read<Source: _Quire.ColumnSource & ~Copyable>(from source: borrowing Source, at index: Int32)
    throws(ValueError) -> UUID
  {
    let text = try source.text(index)
    guard let value = UUID(uuidString: text) else {
      throw ValueError.notA(type: "UUID", column: index, found: String(text.prefix(40)))
    }
    return value
  }

  public func _write<Sink: _Quire.ColumnSink & ~Copyable>(to sink: borrowing Sink, at index: Int32) throws(ValueError) {
    sink.bind(uuidString, at: index)
  }
}

/// The absolute string; text that is not a valid URL is refused, not escaped.
extension URL: StoredValue {
  public static var _columnType: _Quire.ColumnType { .text }

  public static func _read<Source: _Quire.ColumnSource & ~Copyable>(from source: borrowing Source, at index: Int32)
    throws(ValueError) -> URL
  {
    let text = try source.text(index)
    guard let value = URL(string: text, encodingInvalidCharacters: false) else {
      throw ValueError.notA(type: "URL", column: index, found: String(text.prefix(80)))
    }
    return value
  }

  public func _write<Sink: _Quire.ColumnSink & ~Copyable>(to sink: borrowing Sink, at index: Int32) throws(ValueError) {
    sink.bind(absoluteString, at: index)
  }
}

/// Plain digits, `-12.5`: no exponent, no trailing zeros, so that equal numbers are equal text.
///
/// Exact for every `Decimal`. Text order is not number order: see ``DecimalOrder``.
extension Decimal: StoredValue {
  public static var _columnType: _Quire.ColumnType { .text }

  public static func _read<Source: _Quire.ColumnSource & ~Copyable>(from source: borrowing Source, at index: Int32)
    throws(ValueError) -> Decimal
  {
    let text = try source.text(index)
    guard let value = DecimalForm.value(of: text) else {
      throw ValueError.notA(type: "Decimal", column: index, found: String(text.prefix(60)))
    }
    return value
  }

  public func _write<Sink: _Quire.ColumnSink & ~Copyable>(to sink: borrowing Sink, at index: Int32) throws(ValueError) {
    if isNaN { throw ValueError.notStorable("NaN", reason: "use an optional") }
    sink.bind(DecimalForm.text(of: self), at: index)
  }
}

enum DecimalForm {
  /// Nil for what is not exactly a `Decimal`.
  ///
  /// `Decimal(string:)` reads "12abc" as 12 and rounds a 39th digit: writing the value must give the text that was read.
  static func value(of text: String) -> Decimal? {
    guard let plain = plain(text), let value = Decimal(string: plain), !value.isNaN, self.text(of: value) == plain
    else {
      return nil
    }
    return value
  }

  static func text(of value: Decimal) -> String { plain(value.description) ?? value.description }

  /// Removes leading and trailing zeros; nil if there is more than a sign, digits and a point.
  static func plain(_ text: String) -> String? {
    var rest = text[...]
    let isNegative = rest.first == "-"
    if isNegative || rest.first == "+" { rest = rest.dropFirst() }
    let parts = rest.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.contains(where: { !$0.isEmpty }),
      parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } })
    else { return nil }
    let whole = parts[0].drop { $0 == "0" }
    var decimals = parts.count == 2 ? parts[1] : ""
    while decimals.last == "0" { decimals.removeLast() }
    let digits = (whole.isEmpty ? "0" : String(whole)) + (decimals.isEmpty ? "" : "." + decimals)
    return isNegative && digits != "0" ? "-" + digits : digits
  }
}

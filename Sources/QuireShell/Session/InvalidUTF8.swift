import Foundation

/// Where bytes stop being UTF-8.
package struct InvalidUTF8: Sendable {
  /// What is valid before it.
  let prefix: String
  /// Nil if the bytes end inside a character.
  let byte: UInt8?
  /// The line of that byte, from 1.
  package let line: Int

  /// Nil for valid UTF-8.
  package init?(_ bytes: some Collection<UInt8>) {
    if String(validating: bytes, as: UTF8.self) != nil { return nil }
    var valid = String.UnicodeScalarView()
    var rest = bytes.makeIterator()
    var decoder = UTF8()
    while case .scalarValue(let scalar) = decoder.decode(&rest) { valid.append(scalar) }
    prefix = String(valid)
    byte = bytes.dropFirst(prefix.utf8.count).first
    line = prefix.utf8.count { $0 == 10 } + 1
  }

  /// `the byte E9 after “caf”`
  package var place: String {
    let last = prefix.suffix(Self.shownCharacters)
    let shown = printable(String(last.drop { last.count == Self.shownCharacters && $0.isWhitespace }))
    let cut = last.count < prefix.count ? "…" : ""
    return (byte.map { String(format: "the byte %02X", $0) } ?? "the end")
      + (shown.isEmpty ? "" : " after “\(cut)\(shown)”")
  }

  private static let shownCharacters = 20
}

/// How `localizedStandardContains` compares text: the one definition for SQL and for memory.
///
/// The letters A to Z count as a to z; everything else, including accents, is compared exactly. This is SQLite's
/// built-in `lower`, so it needs no custom function on the connection, and any tool can run the same query.
/// (Foundation's version also folds accents and depends on the locale, which SQLite cannot do.)
package enum ASCIICaseFolding {
  package static func folded(_ text: String) -> String { String(decoding: folded(text.utf8), as: UTF8.self) }

  package static func folded(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    bytes.map { (65...90).contains($0) ? $0 + 32 : $0 }
  }

  /// Whether `text` contains `part`, both folded.
  package static func contains(_ text: String, _ part: String) -> Bool {
    ByteSearch.contains(folded(text.utf8), folded(part.utf8))
  }
}

/// Searches by bytes, as SQLite's `instr` does.
enum ByteSearch {
  static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    guard let first = part.first else { return true }
    guard part.count <= text.count else { return false }
    return text.withUnsafeBufferPointer { text in
      part.withUnsafeBufferPointer { part in
        var start = 0
        let last = text.count - part.count
        search: while start <= last {
          if text[start] == first {
            var place = 1
            while place < part.count {
              if text[start + place] != part[place] {
                start += 1
                continue search
              }
              place += 1
            }
            return true
          }
          start += 1
        }
        return false
      }
    }
  }
}

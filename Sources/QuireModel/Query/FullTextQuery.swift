import Foundation

/// What a full-text search looks for.
public struct FullTextQuery: Hashable, Sendable {
  /// In FTS5's language.
  let expression: String

  /// All the words, anywhere and in any order. Operators and special characters in the text have no effect: it is
  /// searched for as it is.
  public static func words(_ text: String) -> FullTextQuery {
    FullTextQuery(expression: quoted(text).joined(separator: " "))
  }

  /// As ``words(_:)``, but the last word may be incomplete: for search as you type.
  public static func beginning(_ text: String) -> FullTextQuery {
    let words = quoted(text)
    return FullTextQuery(expression: words.joined(separator: " ") + (words.last == emptyPhrase ? "" : "*"))
  }

  /// At least one of the words.
  public static func anyWord(_ text: String) -> FullTextQuery {
    FullTextQuery(expression: quoted(text).joined(separator: " OR "))
  }

  /// The words as a phrase, directly following each other.
  public static func phrase(_ text: String) -> FullTextQuery {
    FullTextQuery(expression: phrase(of: text))
  }

  /// FTS5's own query syntax, with columns and operators: `title : (dune NOT messiah)`. A syntax error is thrown by the
  /// fetch.
  public static func fts5(_ expression: String) -> FullTextQuery { FullTextQuery(expression: expression) }

  /// Finds nothing.
  private static let emptyPhrase = "\"\""

  private static func quoted(_ text: String) -> [String] {
    let words = text.split { $0.isWhitespace || $0 == "\0" }
    return words.isEmpty ? [emptyPhrase] : words.map { phrase(of: String($0)) }
  }

  private static func phrase(of text: String) -> String {
    "\"\(text.replacing("\"", with: "\"\"").replacing("\0", with: " "))\""
  }
}

extension PersistentModel {
  /// The objects that have all these words in the properties of their `#FullText`, best matches first.
  ///
  ///     let books = try context.fetch(Book.search("dune"))
  public static func search(_ words: String) -> FetchDescriptor<Self> { search(.words(words)) }

  /// The objects that a full-text query finds, as a descriptor that can be filtered, ordered and limited like any
  /// other, and followed by a live result.
  public static func search(_ query: FullTextQuery) -> FetchDescriptor<Self> {
    var descriptor = FetchDescriptor<Self>()
    descriptor.fullText = query
    return descriptor
  }
}

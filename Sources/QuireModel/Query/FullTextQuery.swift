import Foundation

/// What a full-text search looks for.
public struct FullTextQuery: Hashable, Sendable {
  /// In FTS5's language.
  let expression: String

  /// All the words, anywhere and in any order. Whatever the text holds, it is looked for and is no command.
  public static func words(_ text: String) -> FullTextQuery {
    FullTextQuery(expression: quoted(text).joined(separator: " "))
  }

  /// The same where the last word may go on: what somebody types.
  public static func beginning(_ text: String) -> FullTextQuery {
    let words = quoted(text)
    return FullTextQuery(expression: words.joined(separator: " ") + (words.last == emptyPhrase ? "" : "*"))
  }

  /// At least one of the words.
  public static func anyWord(_ text: String) -> FullTextQuery {
    FullTextQuery(expression: quoted(text).joined(separator: " OR "))
  }

  /// The words as they follow each other.
  public static func phrase(_ text: String) -> FullTextQuery {
    FullTextQuery(expression: phrase(of: text))
  }

  /// In FTS5's own language, with its columns and operators: `title : (dune NOT messiah)`. What is wrong with it, the
  /// fetch says.
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
  /// The objects that have all these words in the properties of their `#FullText`, the best first.
  ///
  ///     let books = try context.fetch(Book.search("dune"))
  public static func search(_ words: String) -> FetchDescriptor<Self> { search(.words(words)) }

  /// The same with another way to search; what is returned can be filtered, ordered and limited as any descriptor.
  public static func search(_ query: FullTextQuery) -> FetchDescriptor<Self> {
    var descriptor = FetchDescriptor<Self>()
    descriptor.fullText = query
    return descriptor
  }
}

extension FetchDescriptor {
  /// For results that follow their rows, where how one row's words rank depends on all others', and for explanations.
  package func refuseFullText() throws {
    if fullText == nil { return }
    throw ModelError.query(
      "a full-text search is for fetches: live results cannot follow it, and nothing explains it. Fetch it again when the model's rows have changed"
    )
  }
}

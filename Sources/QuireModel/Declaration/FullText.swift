public import QuireRow

/// What counts as a word of a searched text.
public enum FullTextWords: String, Hashable, Sendable {
  /// Consecutive letters and digits, regardless of case and diacritics.
  case whole = "unicode61 remove_diacritics 2"
  /// As ``whole``, by English stem: `searching` finds `searched`.
  case stems = "porter unicode61 remove_diacritics 2"
  /// Every three consecutive characters, so that a search for a part of a word finds the word; searches of fewer than
  /// three characters find nothing.
  case parts = "trigram"
}

extension _Quire {
  /// What a model's `#FullText` says.
  public struct FullTextDefinition {
    public let properties: [AnyKeyPath]
    public let words: FullTextWords
  }

  /// The declaration, as the macro passes it on.
  public static func fullText<Model: PersistentModel>(
    _: Model.Type, _ properties: [PartialKeyPath<Model>], words: FullTextWords = .whole
  ) -> FullTextDefinition {
    FullTextDefinition(properties: properties, words: words)
  }
}

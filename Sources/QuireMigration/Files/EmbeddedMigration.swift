/// A migration that a program carries: a file's name and text. The build plug-in `EmbedMigrations` writes them.
public struct EmbeddedMigration: Hashable, Sendable {
  /// With its extension: `20261120143005_add_isbn_to_book.sql`.
  public let name: String
  public let text: String

  public init(name: String, text: String) {
    self.name = name
    self.text = text
  }
}

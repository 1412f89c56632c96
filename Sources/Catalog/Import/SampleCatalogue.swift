import Foundation

/// The small catalogue that ships with the project: classics and libraries, facts only.
///
/// Years are those of first publication, or the usual estimate where a work is older than print; negative before our
/// era. Languages are ISO 639 codes of the original. Nobody rated these, and no edition is meant, so there are neither
/// ratings nor ISBNs.
public enum SampleCatalogue {
  /// Path of its `books.csv`; nil where the program was copied away from its resources.
  public static var books: String? { path(of: "Sample/books.csv") }
  /// Path of its `libraries.csv`.
  public static var libraries: String? { path(of: "Sample/libraries.csv") }
  /// Path of the folder with the migrations that make its schema.
  public static var migrations: String? { path(of: "Migrations") }

  /// Not by the generated `Bundle.module`: that traps where the resources are missing.
  private static func path(of name: String) -> String? {
    let folders = [Bundle.main.bundleURL, Bundle.main.resourceURL].compactMap { $0 }
    return folders.map { $0.appending(path: "Quire_Catalog.resources/\(name)").path }
      .first { FileManager.default.fileExists(atPath: $0) }
  }
}

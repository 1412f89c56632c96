import Foundation

/// The small catalog that ships with the project: classics and libraries, facts only.
///
/// Years are those of first publication, or the usual estimate for works older than print; negative before the common
/// era. Languages are ISO 639 codes of the original. There are neither ratings nor ISBNs, because these works have not
/// been rated and are not particular editions.
public enum SampleCatalog {
  /// Path of its `books.csv`; nil if the program was copied without its resources.
  public static var books: String? { path(of: "Sample/books.csv") }
  /// Path of its `libraries.csv`.
  public static var libraries: String? { path(of: "Sample/libraries.csv") }
  /// Path of the folder with the migrations that make its schema.
  public static var migrations: String? { path(of: "Migrations") }

  /// Does not use the generated `Bundle.module`, which traps if the resources are missing.
  private static func path(of name: String) -> String? {
    let folders = [Bundle.main.bundleURL, Bundle.main.resourceURL].compactMap { $0 }
    return folders.map { $0.appending(path: "Quire_Catalog.resources/\(name)").path }
      .first { FileManager.default.fileExists(atPath: $0) }
  }
}

public import Foundation
import QuireSQLite

/// A copy of a whole database made before it was changed: `library.db.before-20261119160200`, beside it.
public struct MigrationBackup: Hashable, Sendable {
  public let path: String
  public let bytes: Int
  public let date: Date

  /// What follows `before-` in its name, such as a version, or `undo-20261119160200`.
  public var occasion: String {
    path.range(of: Self.mark, options: .backwards).map { String(path[$0.upperBound...]) } ?? ""
  }

  static let mark = ".before-"
  private static let unfinished = UnfinishedCopy.mark

  /// The number of backups that are kept.
  public static let kept = 3

  /// The backups of a database, the latest first.
  public static func all(of database: String) -> [MigrationBackup] { files(of: database) { !$0.contains(unfinished) } }

  /// Copies that are being made, or that a killed process has left; the next process that makes a backup removes the
  /// latter.
  public static func unfinished(of database: String) -> [MigrationBackup] {
    files(of: database) { $0.contains(unfinished) }
  }

  private static func files(of database: String, _ isIncluded: (String) -> Bool) -> [MigrationBackup] {
    names(beside: database).filter(isIncluded).compactMap { path in
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      guard let attributes, attributes[.type] as? FileAttributeType == .typeRegular else { return nil }
      return MigrationBackup(
        path: path, bytes: attributes[.size] as? Int ?? 0, date: attributes[.modificationDate] as? Date ?? .distantPast)
    }.sorted { ($0.date, $0.path) > ($1.date, $1.path) }
  }

  /// Files in the database's folder whose names are those of backups.
  private static func names(beside database: String) -> [String] {
    let parts = database.split(separator: "/", omittingEmptySubsequences: false)
    guard let name = parts.last, !name.isEmpty else { return [] }
    let folder = parts.dropLast().joined(separator: "/")
    let prefix = parts.count > 1 ? folder + "/" : ""
    let names = (try? FileManager.default.contentsOfDirectory(atPath: prefix.isEmpty ? "." : prefix)) ?? []
    // SQLite's own files beside an open backup are not backups.
    return names.filter {
      $0.hasPrefix(name + mark) && !["-wal", "-shm", "-journal"].contains(where: $0.hasSuffix)
    }.map { prefix + $0 }
  }

  /// Removes all but the latest. The oldest one made before a version of `deployed` stays: the state before the deploy.
  static func prune(of database: String, deployed: Set<MigrationVersion>) {
    let all = all(of: database)
    let occasions = Set(deployed.map(\.description))
    let first = max(kept - 1, all.lastIndex { occasions.contains($0.occasion) } ?? 0)
    for (place, old) in all.enumerated() where place >= kept - 1 && place != first { UnfinishedCopy.remove(old.path) }
  }

  /// Removes unfinished backups of killed processes: their files are no longer locked.
  static func removeUnfinished(of database: String) {
    UnfinishedCopy.removeAbandoned(unfinished(of: database).map(\.path))
  }
}

public import Foundation
import QuireSQLite

/// A copy of a whole database made before it was changed: `library.db.before-20261119160200`, beside it.
public struct MigrationBackup: Hashable, Sendable {
  /// The path of the copy.
  public let path: String
  /// The size of the copy.
  public let bytes: Int
  /// When the copy was last written to, as the file system says.
  public let date: Date

  /// The part of its name after `before-`, such as a version, or `undo-20261119160200`; `-2` and so on at its end if
  /// the name was taken.
  public var occasion: String {
    path.range(of: Self.mark, options: .backwards).map { String(path[$0.upperBound...]) } ?? ""
  }

  /// Whether it contains the content that a restore has replaced.
  public var isBeforeRestore: Bool { Name(occasion)?.event == .restore }

  /// Whether it was made before this migration was applied.
  public func isBefore(_ version: MigrationVersion) -> Bool {
    let name = Name(occasion)
    return name?.event == .apply && name?.version == "\(version)"
  }

  static let mark = ".before-"
  private static let unfinished = UnfinishedFile.mark

  /// The number of backups that are kept.
  public static let kept = 3

  /// The backups of a database, the latest first: files with the names that backups get. Other files beside the
  /// database, such as `library.db.before-christmas`, are copies of its owner.
  public static func all(of database: String) -> [MigrationBackup] { files(of: database) { Name($0) != nil } }

  /// Copies that are being made, or that a killed process has left; the next process that makes a backup removes the
  /// latter.
  public static func unfinished(of database: String) -> [MigrationBackup] {
    files(of: database) { occasion in
      guard let end = occasion.range(of: unfinished + "-") else { return false }
      return Name(String(occasion[..<end.lowerBound])) != nil
        && occasion[end.upperBound...].allSatisfy { $0 == "-" || $0.isASCII && $0.isNumber }
    }
  }

  private static func files(of database: String, _ isIncluded: (_ occasion: String) -> Bool) -> [MigrationBackup] {
    names(beside: database).compactMap { path in
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      guard let attributes, attributes[.type] as? FileAttributeType == .typeRegular else { return nil }
      return MigrationBackup(
        path: path, bytes: attributes[.size] as? Int ?? 0, date: attributes[.modificationDate] as? Date ?? .distantPast)
    }.filter { $0.path == database + mark + $0.occasion && isIncluded($0.occasion) }.sorted {
      ($0.date, $0.path) > ($1.date, $1.path)
    }
  }

  /// Files in the database's folder whose names begin as those of backups.
  private static func names(beside database: String) -> [String] {
    let parts = database.split(separator: "/", omittingEmptySubsequences: false)
    guard let name = parts.last, !name.isEmpty else { return [] }
    let folder = parts.dropLast().joined(separator: "/")
    let prefix = parts.count > 1 ? folder + "/" : ""
    let names = (try? FileManager.default.contentsOfDirectory(atPath: prefix.isEmpty ? "." : prefix)) ?? []
    return names.filter { $0.hasPrefix(name + mark) }.map { prefix + $0 }
  }

  /// Removes all but the latest; of those that restores have made, which are counted apart, all but the latest too. The
  /// oldest one made before a version of `deployed` stays: the state before the deploy.
  ///
  /// A name with a number that is not a time, such as `before-1`, may be another's: it counts only if one of `known` has
  /// that number.
  static func prune(
    of database: String, deployed: Set<MigrationVersion>, known: Set<MigrationVersion>, keeping used: String?
  ) {
    let versions = Set(known.map(\.description))
    let all = all(of: database).filter { backup in
      guard let version = Name(backup.occasion)?.version else { return true }
      return MigrationVersion(version) != nil || versions.contains(version)
    }
    let made = all.filter { !$0.isBeforeRestore }
    let first = made.lastIndex { backup in deployed.contains { backup.isBefore($0) } } ?? 0
    for (backups, oldest) in [(made, max(kept - 1, first)), (all.filter(\.isBeforeRestore), kept - 1)] {
      for (place, old) in backups.enumerated() where place >= kept - 1 && place != oldest && old.path != used {
        UnfinishedCopy.remove(old.path)
      }
    }
  }

  /// Removes unfinished backups of killed processes: their files are no longer locked.
  static func removeUnfinished(of database: String) {
    UnfinishedFile.removeAbandoned(unfinished(of: database).map(\.path))
  }
}

extension MigrationBackup {
  /// A name that a backup gets: a version, or `undo` or `redo` with one, or `restore`; with a number if it was taken.
  private struct Name {
    enum Event: String { case apply, undo, redo, restore }

    let event: Event
    let version: String?

    init?(_ occasion: String) {
      let parts = occasion.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      let event = [Event.undo, .redo, .restore].first { $0.rawValue == parts[0] } ?? .apply
      let rest = Array(event == .apply ? parts[...] : parts.dropFirst())
      let version = event == .restore ? nil : rest.first
      if event != .restore {
        guard let version, !version.isEmpty, version.allSatisfy({ $0 == "." || $0.isASCII && $0.isNumber }) else {
          return nil
        }
      }
      let numbers = event == .restore ? rest[...] : rest.dropFirst()
      guard numbers.isEmpty || numbers.count == 1 && numbers.allSatisfy({ (Int($0) ?? 0) > 1 }) else { return nil }
      self.event = event
      self.version = version
    }
  }
}

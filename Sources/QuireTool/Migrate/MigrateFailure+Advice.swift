import Foundation
import QuireMigration
import QuireSQLite
import QuireShell

extension MigrateFailure {
  var tried: String { "Tried on a database of its own: nothing was changed." }

  /// What to do about files that begin from tables another program has made.
  func beginning(_ failure: MigrationFailure) -> String? {
    guard failure.message.hasPrefix("no such table: "), failure.suggestion == nil,
      migrator.files.contains(where: { $0.path == failure.place.file })
    else { return nil }
    let database = target.optionalDatabase.map(shellQuoted) ?? "FILE"
    return """
      Was it there before these files? Then let a first file make it, too:
          \(target.program) migrate new begin --from db -d \(database) -m BEGIN        to be moved here, with an earlier number
          \(target.program) migrate baseline NUMBER \(database)        records it where the table is there already
      """
  }

  /// What to do about a database that has what its first file makes: it was made without these files, or another tool has
  /// run them and keeps its history elsewhere.
  ///
  /// - Parameter state: A sentence about the database after the failure.
  func alreadyThere(_ failure: MigrationFailure, _ state: String) -> String? {
    guard failure.message.hasSuffix(" already exists"), progress.applied.isEmpty, target.optionalDatabase != nil,
      ["apply", "plan", "check"].contains(where: isCommand), (try? migrator.history())?.isEmpty == true,
      migrator.files.first?.path == failure.place.file
    else { return nil }
    let command = target.pasteable("baseline VERSION")
    return """
      \(state) Has the database had that from before these files, or from a tool that ran them?
          \(command)        records the files up to VERSION as applied, and runs nothing
      """
  }

  /// What another tool has undone since `baseline` recorded it, which still counts as applied here; nil if there is nothing.
  func undoneByTool() -> String? {
    guard let (tool, undone) = (try? migrator.undoneByTool()) ?? nil else { return nil }
    let versions = undone.map { "\($0.version)" }.joined(separator: ", ")
    return """
      \(tool.toolName) has undone \(versions) since, as its table \(tool.table) says; here it still counts as applied.
          \(target.pasteable("baseline"))        takes over what that table says
      """
  }

  /// The commands that give all files that take another one back the names of pairs.
  var renamesToPairs: [String] {
    Dictionary(grouping: migrator.files, by: \.version).sorted { $0.key < $1.key }.compactMap { _, files in
      MigrationFolder.pair(files.map(\.path))
    }.flatMap { pair in
      [pair.up, pair.down].map { "    mv \(shellQuoted($0.old)) \(shellQuoted($0.new))" }
    }
  }

  /// Where another tool's history does not say what has run.
  var baselines: String {
    let (some, none) = (target.pasteable("baseline VERSION"), target.pasteable("baseline none"))
    let width = max(some.count, none.count) + 8
    return """
          \(padded(some, to: width))records the files up to VERSION as applied, and runs nothing
          \(padded(none, to: width))if none of these files has run here
      """
  }

  /// What a backup needs, and what there is.
  var roomForBackup: String {
    let needed = SidecarFiles.size(of: migrator.database).map { " The backup needs \(QuireTool.size(Int($0)))" } ?? ""
    let folder = URL(filePath: migrator.database).deletingLastPathComponent().path
    let free = (try? FileManager.default.attributesOfFileSystem(forPath: folder))?[.systemFreeSize] as? Int
    let left = free.map { needed.isEmpty ? "" : ", and \(QuireTool.size($0)) are free" } ?? ""
    return """
      Make room beside \(migrator.database) and repeat it.\(needed)\(left)\(needed.isEmpty ? "" : ".")
      Without room, and without a way back:  --no-backup
      """
  }

  var roomToRestore: String {
    let file = shellQuoted(migrator.database)
    return """
      Make room beside \(migrator.database) and repeat it. Without room: end all programs that have it open, remove
      \(file)-wal, \(file)-shm and \(file)-journal, and rename the backup to \(file).
      """
  }
}

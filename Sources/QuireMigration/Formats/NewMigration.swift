public import Foundation
import QuireSQLite

/// The file or files of a new migration, with the names and marks of the folder's tool.
struct NewMigration {
  let format: MigrationFormat
  /// The existing names.
  let names: [String]
  let title: String
  let up: String
  let undo: String?

  /// Their names and texts.
  ///
  /// - Throws: ``MigrationError/malformed(file:line:reason:)`` if no number is left behind the last one.
  func files(now: Date) throws(MigrationError) -> [(name: String, text: String)] {
    let words = title.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: "_")
    let name = words.isEmpty ? "migration" : String(words.prefix(80))
    let number = try number(now: now)
    switch format {
    case .golangMigrate:
      return [("\(number)_\(name).up.sql", up), ("\(number)_\(name).down.sql", undo ?? "")]
    case .flyway, .refinery:
      let undoing: [(name: String, text: String)] =
        MigrationName.haveUndo(names.map { MigrationName($0) }) ? [("U\(number)__\(name).sql", undo ?? "")] : []
      return [("V\(number)__\(name).sql", up)] + undoing
    case .dbmate: return [("\(number)_\(name).sql", "-- migrate:up\n\(up)\n-- migrate:down\n\(undo ?? "")")]
    case .goose:
      // Its own statement splitter ends at a trigger's first semicolon.
      func block(_ sql: String) -> String {
        SQLTokens.isEmpty(sql) ? sql : "-- +goose StatementBegin\n\(sql)-- +goose StatementEnd\n"
      }
      return [("\(number)_\(name).sql", "-- +goose Up\n\(block(up))\n-- +goose Down\n\(block(undo ?? ""))")]
    case .plain, .sqlx, .quire: return [("\(number)_\(name).sql", up)]
    }
  }

  /// The last number plus one, with the same width; the present time if the last one is a time, with zeros for the parts of
  /// a second that it has.
  private func number(now: Date) throws(MigrationError) -> String {
    let present = names.map { (MigrationName($0), $0) }.filter { $0.0.version != nil && $0.0.direction != .down }
    guard let last = present.max(by: { ($0.0.version?.number ?? 0) < ($1.0.version?.number ?? 0) }) else { return "1" }
    let digits = last.1.drop { $0.isLetter }.prefix { ("0"..."9").contains($0) }
    if digits.count < 14, last.0.version?.date != nil {
      // It has signs between the parts of the time.
      return "\(MigrationVersion.next(after: last.0.version, now: now))"
    }
    if let time = MigrationVersion(String(digits.prefix(14))) {
      return "\(MigrationVersion.next(after: time, now: now))" + String(repeating: "0", count: digits.count - 14)
    }
    let (next, isTooLarge) = (Int64(digits) ?? 0).addingReportingOverflow(1)
    if isTooLarge { throw .malformed(file: last.1, line: 1, reason: "there is no number behind its own: renumber it") }
    return "\(next)".leftPadded(to: digits.count)
  }
}

extension MigrationFolder {
  /// Writes a new migration into another tool's folder, with that tool's names and marks, and returns the path of the
  /// file that runs it.
  ///
  /// - Throws: ``MigrationError/folder(_:reason:)`` if the folder is not writable.
  public static func write(_ title: String, up: String, undo: String?, to folder: String, now: Date = .now)
    throws(MigrationError) -> String
  {
    let format = MigrationFormat(of: try read(folder))
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let new = NewMigration(
      format: format, names: names.filter { $0.hasSuffix(".sql") && $0 != "schema.sql" }, title: title, up: up,
      undo: undo)
    let files = try new.files(now: now)
    for (place, file) in files.enumerated() {
      do {
        try write(file.text, toNew: join(folder, file.name))
      } catch {
        for (name, _) in files[..<place] { try? FileManager.default.removeItem(atPath: join(folder, name)) }
        throw .folder(folder, reason: "cannot be written to: \(FileObstacle.reason(of: error))")
      }
    }
    return join(folder, files[0].name)
  }
}

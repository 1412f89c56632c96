public import Foundation
import QuireSQLite

extension MigrationFolder {
  /// Writes a new file at the end of the order and returns its path; creates the folder if it is missing.
  ///
  /// - Parameters:
  ///   - title: Any words; the file's name gets their letters and digits.
  ///   - text: Nil for the title and an empty undo section.
  /// - Throws: ``MigrationError/folder(_:reason:)`` if the folder is not writable.
  public static func write(
    _ title: String, text: String? = nil, to folder: String, after last: MigrationVersion?, now: Date = .now
  ) throws(MigrationError) -> String {
    let words = title.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: "_")
    let name = words.isEmpty ? "migration" : String(words.prefix(80))
    let path = join(folder, "\(MigrationVersion.next(after: last, now: now))_\(name).sql")
    let oneLine = title.split(whereSeparator: \.isNewline).joined(separator: " ")
    let text = text ?? "-- \(oneLine)\n\n\n-- migrate: undo\n\n"
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try write(text, toNew: path)
    } catch {
      throw .folder(folder, reason: "cannot be written to: \(FileObstacle.reason(of: error))")
    }
    return path
  }

  /// Writes a file that must not be there yet, or leaves none.
  static func write(_ text: String, toNew path: String) throws {
    do {
      try Data(text.utf8).write(to: URL(filePath: path), options: .withoutOverwriting)
    } catch let error as CocoaError where error.code == .fileWriteFileExists {
      throw error  // another's
    } catch {
      try? FileManager.default.removeItem(atPath: path)
      throw error
    }
  }

  /// Renumbers a file to the end of the order, with the file beside it that undoes it, and returns its new path.
  ///
  /// If the numbers of the folder are not times, the file gets the next number, with as many digits as its present
  /// number.
  ///
  /// A package manifest above the folder is touched, because SwiftPM does not detect the removal of a file that it has
  /// copied or embedded.
  ///
  /// - Parameter last: The highest number of the folder and its databases.
  /// - Throws: ``MigrationError/folder(_:reason:)`` if it cannot be renamed.
  public static func renumber(_ file: MigrationFile, after last: MigrationVersion, now: Date = .now)
    throws(MigrationError) -> String
  {
    let parts = file.path.split(separator: "/", omittingEmptySubsequences: false)
    let folder = parts.count > 1 ? parts.dropLast().joined(separator: "/") + "/" : ""
    let name = parts.last.map(String.init) ?? file.path
    let mark = name.prefix { !$0.isNumber && $0 != "_" }  // Flyway's V
    let digits = name.dropFirst(mark.count).prefix { $0.isNumber }
    let rest = name.dropFirst(mark.count + digits.count)
    let isNoTime = file.version.date == nil && last.date == nil && Int64(digits) == file.version.number
    if isNoTime, last.number == .max {
      throw .malformed(file: name, line: 1, reason: "there is no number behind \(last), which is the last")
    }
    let number =
      isNoTime
      ? "\(last.number + 1)".leftPadded(to: digits.count)
      : "\(MigrationVersion.next(after: last == file.version ? nil : last, now: now))"
    let new = folder + mark + number + (rest.hasPrefix("_") || !digits.isEmpty ? String(rest) : "_migration.sql")
    try move(file.path, to: new)
    if let back = downFile(of: file.path), let moved = downFile(of: new, isThere: false) {
      do {
        try move(back, to: moved)
      } catch {
        rename(new, file.path)
        throw error
      }
    }
    touchManifest(above: parts.count > 1 ? folder : ".")
    return new
  }

  private static func move(_ path: String, to new: String) throws(MigrationError) {
    let isTaken = FileManager.default.fileExists(atPath: new)
    guard !isTaken, rename(path, new) == 0 else {
      let reason = isTaken ? "there is a \(new)" : FileObstacle.reason(errno)
      throw .folder(
        URL(filePath: path).deletingLastPathComponent().relativePath, reason: "cannot be written to: \(reason)")
    }
  }

  /// `2_a.down.sql` for `2_a.up.sql`.
  private static func downFile(of path: String, isThere: Bool = true) -> String? {
    guard path.hasSuffix(".up.sql") else { return nil }
    let down = String(path.dropLast(7)) + ".down.sql"
    return isThere && !FileManager.default.fileExists(atPath: down) ? nil : down
  }

  private static func touchManifest(above folder: String) {
    var url = URL(filePath: folder).standardizedFileURL.resolvingSymlinksInPath()
    while url.pathComponents.count > 1 {
      let manifest = url.appending(path: "Package.swift").path
      if FileManager.default.fileExists(atPath: manifest) {
        try? FileManager.default.setAttributes([.modificationDate: Date.now], ofItemAtPath: manifest)
        return
      }
      if FileManager.default.fileExists(atPath: url.appending(path: ".git").path) { return }
      url.deleteLastPathComponent()
    }
  }

  static func join(_ folder: String, _ name: String) -> String {
    folder.hasSuffix("/") ? folder + name : folder + "/" + name
  }
}

extension MigrationVersion {
  /// The present time, or one second after `last` if that is in the future.
  static func next(after last: MigrationVersion?, now: Date) -> MigrationVersion {
    var moment = now
    if let last, let date = last.date, date >= Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down)) {
      moment = date + 1
    }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: moment)
    let digits = [parts.month, parts.day, parts.hour, parts.minute, parts.second].map { Int64($0 ?? 0) }
    return MigrationVersion(number: digits.reduce(Int64(parts.year ?? 0)) { $0 * 100 + $1 })
  }

  /// The time it stands for; nil for a number that is not a time.
  var date: Date? {
    var rest = number
    func take(_ divisor: Int64) -> Int {
      defer { rest /= divisor }
      return Int(rest % divisor)
    }
    let (second, minute, hour, day, month) = (take(100), take(100), take(100), take(100), take(100))
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let parts = DateComponents(
      year: Int(rest), month: month, day: day, hour: hour, minute: minute, second: second)
    guard (1...12).contains(month), (1...31).contains(day), (1970...9999).contains(rest) else { return nil }
    return calendar.date(from: parts)
  }
}

extension String {
  /// Digits with zeros before them.
  func leftPadded(to count: Int) -> String {
    String(repeating: "0", count: max(0, count - self.count)) + self
  }
}

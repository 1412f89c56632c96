public import Foundation

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
      try Data(text.utf8).write(to: URL(filePath: path), options: .withoutOverwriting)
    } catch {
      throw .folder(folder, reason: "cannot be written to: \(reason(error))")
    }
    return path
  }

  /// Renumbers the file at `path` to the end of the order, and returns its new path.
  ///
  /// A package manifest above the folder is touched, because SwiftPM does not detect the removal of a file that it has
  /// copied or embedded.
  ///
  /// - Throws: ``MigrationError/unreadable(file:)`` if it cannot be renamed.
  public static func renumber(_ path: String, after last: MigrationVersion?, now: Date = .now) throws(MigrationError)
    -> String
  {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let name = parts.last.map(String.init) ?? path
    let rest = name.firstIndex(of: "_").map { name[$0...] } ?? "_migration.sql"
    let folder = parts.dropLast().joined(separator: "/")
    let new = (parts.count > 1 ? folder + "/" : "") + "\(MigrationVersion.next(after: last, now: now))\(rest)"
    guard !FileManager.default.fileExists(atPath: new), rename(path, new) == 0 else { throw .unreadable(file: path) }
    touchManifest(above: parts.count > 1 ? folder : ".")
    return new
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

  private static func reason(_ error: any Error) -> String {
    let error = error as NSError
    let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
    let number =
      cause?.domain == NSPOSIXErrorDomain ? cause?.code : error.domain == NSPOSIXErrorDomain ? error.code : nil
    return number.map { String(cString: strerror(Int32($0))) } ?? error.localizedDescription
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

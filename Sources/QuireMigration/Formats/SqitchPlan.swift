import Foundation

/// Sqitch's `sqitch.plan`, which lists its changes in the order in which they run. The names of their files have no
/// numbers.
struct SqitchPlan {
  private let folder: String
  private let changes: [String]

  /// The plan of the project that `folder` is, or whose files it has; nil if there is none.
  init?(of folder: String) {
    let path = URL(filePath: folder).standardizedFileURL.path
    let name = path.split(separator: "/").last
    let parent = String(folder.dropLast(folder.hasSuffix("/") ? 1 : 0).dropLast(name?.count ?? 0))
    let folders = [folder] + (["deploy", "revert", "verify"].contains(name) ? [parent.isEmpty ? "." : parent] : [])
    for folder in folders {
      guard let data = FileManager.default.contents(atPath: MigrationFolder.join(folder, "sqitch.plan")) else {
        continue
      }
      self.folder = folder
      changes = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).compactMap { line in
        let words = line.split(whereSeparator: \.isWhitespace).drop { $0 == "+" }
        guard let first = words.first, let sign = first.first, !"%@#-".contains(sign) else { return nil }
        return String(first.drop { $0 == "+" })
      }
      return
    }
    return nil
  }

  /// What to do with its files.
  var hint: String {
    let digits = max(4, "\(changes.count)".count)
    let copies = changes.prefix(2).enumerated().flatMap { place, change in
      let number = "\(place + 1)".leftPadded(to: digits)
      return [("deploy", "up"), ("revert", "down")].map { kind, end in
        "\n    \(MigrationFolder.join(folder, kind))/\(change).sql  as  \(number)_\(change.replacing("/", with: "_")).\(end).sql"
      }
    }
    return """
      is Sqitch's, whose files have no numbers and run in the order of \(MigrationFolder.join(folder, "sqitch.plan")).
      Copy them into a folder of their own, in that order:\(copies.joined())\(changes.count > 2 ? "\n    …" : "")
      Where they have run already,  migrate baseline \(changes.count)  records them
      """
  }
}

import Foundation

/// The marked code blocks of the documentation's pages: `<!-- run: NAME -->` stands above each.
enum Readme {
  /// The package's folder.
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The lines between the fences, each with its newline; nil where there is no such block.
  static func block(_ name: String, in page: String) throws -> String? {
    let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let mark = lines.firstIndex(of: "<!-- run: \(name) -->"), mark + 1 < lines.count,
      lines[mark + 1].hasPrefix("```"), let end = lines[(mark + 2)...].firstIndex(of: "```")
    else { return nil }
    return lines[(mark + 2)..<end].map { $0 + "\n" }.joined()
  }
}

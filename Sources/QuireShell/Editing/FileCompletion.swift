import Foundation

extension Completer {
  private static let mostFiles = 1000

  /// The files and folders that a path may go on to; nil if the path has ended, and something else is typed.
  ///
  /// A folder ends with `/`. A path with a space comes in quotes. Hidden files are there once their period is typed.
  ///
  /// - Parameter argument: What follows a command: the path, perhaps behind a quote, to the end of what is typed.
  static func files(_ argument: Substring) -> [InputCompletions.Candidate]? {
    let quote = argument.first.flatMap { "\"'".contains($0) ? $0 : nil }
    let path = quote == nil ? argument : argument.dropFirst()
    if path.contains(where: { quote == nil ? $0.isWhitespace : $0 == quote }) { return nil }
    let begin = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
    let (folder, typed) = (String(path[..<begin]), path[begin...])
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
    return names.filter { name in
      name.hasPrefix(typed) && (name.first != "." || !typed.isEmpty)
        // No line can have such a name.
        && printable(name) == name && !name.contains("\u{FFFD}")
    }.sorted().prefix(mostFiles).compactMap { name -> InputCompletions.Candidate? in
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: folder + name, isDirectory: &isFolder)
      let (end, detail) = isFolder.boolValue ? ("/", "folder") : ("", "")
      let path = folder + name + end
      if quote == nil, !path.contains(where: { $0.isWhitespace || "\"'".contains($0) }) {
        return .init(text: path, detail: detail)
      }
      guard let quote = quote ?? "\"'".first(where: { !path.contains($0) }), !path.contains(quote) else { return nil }
      // A folder's quote stays open, because the path goes on.
      return .init(text: "\(quote)\(path)\(isFolder.boolValue ? "" : String(quote))", detail: detail)
    }
  }
}

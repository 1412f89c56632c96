// The part of Scripts/docs that reads and writes: puts the catalog for DocC together, and serves the site.
import Foundation

let root = URL(filePath: FileManager.default.currentDirectoryPath)
let files = FileManager.default

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("error: \(message)\n".utf8))
  exit(1)
}

func contents(of url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

// MARK: Symbols

/// Puts the symbol graphs of several modules together as one of `Quire`, which is the module users import.
func mergeGraphs(from folder: URL, to file: URL) throws {
  var merged: [String: Any] = [:]
  var symbols: [Any] = []
  var relationships: [Any] = []
  let graphs = try files.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
  for graph in graphs.sorted(by: { $0.path < $1.path }) {
    // A module's name before a symbol's, as in `QuireModel/ModelContext`, would lead nowhere.
    let said = try contents(of: graph).replacing(/``Quire(Row|SQLite|Shared|Model|Live)\\?\//) { _ in "``" }
    guard let object = try JSONSerialization.jsonObject(with: Data(said.utf8)) as? [String: Any] else { continue }
    symbols += object["symbols"] as? [Any] ?? []
    relationships += object["relationships"] as? [Any] ?? []
    if merged.isEmpty { merged = object }
  }
  var module = merged["module"] as? [String: Any] ?? [:]
  module["name"] = "Quire"
  merged["module"] = module
  merged["symbols"] = symbols
  merged["relationships"] = relationships
  try files.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
  try JSONSerialization.data(withJSONObject: merged).write(to: file)
}

// MARK: Articles

/// A page of the repository that becomes an article.
struct Page {
  let source: URL
  /// As DocC refers to it.
  let name: String
  let text: String

  init(_ source: URL, name: String) throws {
    self.source = source
    self.name = name
    text = try contents(of: source)
  }

  /// The anchors of its headings: as GitHub makes them, and as DocC does.
  var anchors: [String: String] {
    var anchors: [String: String] = [:]
    for heading in text.matches(of: /\n#{2,4} +(?<title>[^\n]+)/) {
      let title = heading.title.filter { $0 != "`" }
      let slug = title.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }
      let anchor = title.split(separator: " ").joined(separator: "-").filter { !"'\"".contains($0) }
      anchors[slug.replacing(" ", with: "-")] = String(anchor)
    }
    return anchors
  }
}

/// Pages whose own name another page, or a type, has.
let names = ["README": "Decisions", "SelfLoading": "LoadingProperties"]

func allPages() throws -> [Page] {
  var pages: [Page] = []
  for name in ["ARCHITECTURE", "CONTRIBUTING", "CHANGELOG"] {
    pages.append(try Page(root.appending(path: "\(name).md"), name: name.capitalized))
  }
  for (folder, prefix) in [("Documentation", ""), ("Documentation/Decisions", "Decision-")] {
    let found = try files.contentsOfDirectory(at: root.appending(path: folder), includingPropertiesForKeys: nil)
    for file in found.sorted(by: { $0.path < $1.path }) where file.pathExtension == "md" {
      let name = file.deletingPathExtension().lastPathComponent
      pages.append(try Page(file, name: names[name] ?? prefix + name))
    }
  }
  return pages
}

/// A page as DocC takes it: comments left out, and links to files turned into links to articles.
func article(_ page: Page, among pages: [String: Page]) -> String {
  var result = ""
  var fence: Substring?
  var hasTitle = false
  // Two backquotes are a link to a symbol in DocC, so signs like them stand for those within code.
  let text = page.text.replacing(/`` (?<code>[^\n]+?(\n[^\n]+?)?) ``/) { match in
    "`\(match.code.replacing("`", with: "ˋ").replacing("\n", with: " "))`"
  }
  // The text of a link may go on in the next line, and what follows looks at lines.
  .replacing(/\[(?<first>[^\]\n]+)\n(?<rest>[^\]\n]+)\]\((?<path>[^)\s]+)\)/) { "[\($0.first) \($0.rest)](\($0.path))" }
  for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
    let head = line.drop { $0 == " " }
    if let open = fence {
      if head == open { fence = nil }
    } else if head.hasPrefix("```") {
      fence = head.prefix { $0 == "`" }
    } else if head.hasPrefix("<!--") {
      continue
    } else {
      var line = line
      if line.hasPrefix("# ") {
        // DocC takes one title, and headings below it.
        if hasTitle { line = "#" + line }
        hasTitle = true
      }
      result += converted(line, of: page, pages) + "\n"
      continue
    }
    // DocC knows these names for languages.
    result += line.replacing("```console", with: "```text") + "\n"
  }
  return result
}

private func converted(_ line: Substring, of page: Page, _ pages: [String: Page]) -> String {
  var line = String(line)
  if line.hasPrefix("# ") { line = line.filter { $0 != "`" } }
  if page.name == "Types" { line = line.replacing(/^\| `(?<name>[A-Z]\w*)`/) { "| ``\($0.name)``" } }
  line = line.replacing(/!\[(?<alt>[^\]]*)\]\((?<path>[^)]+)\)/) { match in
    "![\(match.alt)](\(URL(filePath: String(match.path)).deletingPathExtension().lastPathComponent))"
  }
  return line.replacing(/(?<mark>!?)\[(?<said>[^\]]+)\]\((?<path>[^)\s]+)\)/) { match in
    let path = String(match.path)
    if !match.mark.isEmpty || path.contains("://") || path.hasPrefix("doc:") { return String(match.0) }
    let parts = path.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let target =
      parts[0].isEmpty
      ? page.source : page.source.deletingLastPathComponent().appending(path: parts[0]).standardizedFileURL
    if target.lastPathComponent == "README.md", target.deletingLastPathComponent().path == root.path {
      return "[\(match.said)](doc:/documentation/Quire)"
    }
    guard let found = pages[target.path] else { return String(match.said) }
    if parts.count > 1, let anchor = found.anchors[parts[1]] { return "[\(match.said)](doc:\(found.name)#\(anchor))" }
    return "[\(match.said)](doc:\(found.name))"
  }
}

// MARK: Pictures and steps

/// A picture follows the reader's scheme by itself. DocC has a switch of its own, so it gets one file for each scheme.
func copyPicture(_ file: URL, to folder: URL) throws {
  let name = file.deletingPathExtension().lastPathComponent
  let picture = try contents(of: file)
  guard let rule = picture.firstMatch(of: /@media *\(prefers-color-scheme: *dark\) *\{(?<rules>[^}]*\})\s*\}/) else {
    return try picture.write(to: folder.appending(path: "\(name).svg"), atomically: true, encoding: .utf8)
  }
  let light = picture.replacing(rule.0, with: "")
  let dark = picture.replacing(rule.0, with: String(rule.rules))
  try light.write(to: folder.appending(path: "\(name).svg"), atomically: true, encoding: .utf8)
  try dark.write(to: folder.appending(path: "\(name)~dark.svg"), atomically: true, encoding: .utf8)
}

/// A source of the tutorial as it is after each of its steps: `// step 3` above lines says that they come with the third,
/// and `// step 3-4` that they go with the fifth; `// end` goes back to lines that are there from the first.
func steps(of file: URL) throws -> [String] {
  var lines: [(text: Substring, steps: ClosedRange<Int>)] = []
  var now = 1...Int.max
  for line in try contents(of: file).split(separator: "\n", omittingEmptySubsequences: false) {
    if let mark = line.wholeMatch(of: /\s*\/\/ step (?<from>\d+)(-(?<to>\d+))?/) {
      now = (Int(mark.from) ?? 1)...(mark.to.flatMap { Int($0) } ?? .max)
    } else if line.wholeMatch(of: /\s*\/\/ end/) != nil {
      now = 1...Int.max
    } else {
      lines.append((line, now))
    }
  }
  let last = lines.map { $0.steps.lowerBound }.max() ?? 1
  return (1...last).map { step in
    var text = lines.filter { $0.steps.contains(step) }.map(\.text).joined(separator: "\n")
    while text.contains("\n\n\n") { text = text.replacing("\n\n\n", with: "\n\n") }
    return text.trimmingCharacters(in: .newlines) + "\n"
  }
}

func tutorialSources() throws -> [URL] {
  let folder = root.appending(path: "Documentation/Quire.docc/Code")
  return try files.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).sorted { $0.path < $1.path }
}

/// Puts the catalog together in `work`.
func makeCatalog(in work: URL) throws {
  try mergeGraphs(from: work.appending(path: "graphs"), to: work.appending(path: "merged/Quire.symbols.json"))
  let catalog = work.appending(path: "Quire.docc")
  try files.copyItem(at: root.appending(path: "Documentation/Quire.docc"), to: catalog)
  let code = catalog.appending(path: "Code")
  for file in try tutorialSources() {
    let name = file.deletingPathExtension().lastPathComponent
    for (number, step) in try steps(of: file).enumerated() {
      let target = catalog.appending(path: "\(name)-\(number + 1).\(file.pathExtension)")
      try step.write(to: target, atomically: true, encoding: .utf8)
    }
  }
  try files.removeItem(at: code)
  let articles = catalog.appending(path: "Articles")
  try files.createDirectory(at: articles, withIntermediateDirectories: true)
  let pages = try allPages()
  let byPath = Dictionary(pages.map { ($0.source.standardizedFileURL.path, $0) }) { first, _ in first }
  for page in pages {
    let text = article(page, among: byPath)
    try text.write(to: articles.appending(path: "\(page.name).md"), atomically: true, encoding: .utf8)
  }
  let pictures = root.appending(path: "Documentation/pictures")
  for file in try files.contentsOfDirectory(at: pictures, includingPropertiesForKeys: nil) {
    if file.pathExtension == "svg" {
      try copyPicture(file, to: catalog)
    } else {
      try files.copyItem(at: file, to: catalog.appending(path: file.lastPathComponent))
    }
  }
  let start =
    "<!doctype html><meta charset=\"utf-8\"><title>Quire</title>"
    + "<meta http-equiv=\"refresh\" content=\"0; url=documentation/quire/\"><a href=\"documentation/quire/\">Quire</a>\n"
  try start.write(to: work.appending(path: "index.html"), atomically: true, encoding: .utf8)
}

switch CommandLine.arguments.dropFirst().first {
case "catalog": try makeCatalog(in: URL(filePath: CommandLine.arguments[2]))
case "serve": try serve(URL(filePath: CommandLine.arguments[2]))
default: fail("Scripts/docs calls this")
}

// MARK: Serving

/// Serves a folder on the loopback interface alone, until the process is ended.
func serve(_ folder: URL) throws {
  let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var yes: Int32 = 1
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
  var port: UInt16 = 8090
  while port < 8190, !bound(socket, to: port) { port += 1 }
  guard listen(socket, 64) == 0 else { fail("no port from 8090 on is free") }
  signal(SIGPIPE, SIG_IGN)
  print("http://127.0.0.1:\(port)/    Ctrl-C ends it")
  fflush(nil)
  while case let client = accept(socket, nil, nil), client >= 0 {
    DispatchQueue.global().async {
      answer(client, from: folder)
      close(client)
    }
  }
}

private func bound(_ socket: Int32, to port: UInt16) -> Bool {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = inet_addr("127.0.0.1")
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      Glibc.bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
    }
  }
}

private func answer(_ client: Int32, from folder: URL) {
  var bytes = [UInt8](repeating: 0, count: 16384)
  let count = read(client, &bytes, bytes.count)
  guard count > 0 else { return }
  let words = String(decoding: bytes[..<count], as: UTF8.self).prefix { $0 != "\r\n" }.split(separator: " ")
  guard words.count > 1, words[0] == "GET" else { return }
  let path = String(words[1].prefix { $0 != "?" }).removingPercentEncoding ?? "/"
  let home = folder.standardizedFileURL.path
  var file = folder.appending(path: path).standardizedFileURL
  var isFolder: ObjCBool = false
  if files.fileExists(atPath: file.path, isDirectory: &isFolder), isFolder.boolValue {
    file.append(path: "index.html")
  }
  let data = (file.path + "/").hasPrefix(home + "/") ? files.contents(atPath: file.path) : nil
  let types = [
    "html": "text/html; charset=utf-8", "js": "text/javascript", "css": "text/css", "json": "application/json",
    "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "ico": "image/x-icon", "txt": "text/plain",
  ]
  let type = types[file.pathExtension] ?? "application/octet-stream"
  let body = data ?? Data("There is no such page.\n".utf8)
  let head =
    "HTTP/1.1 \(data == nil ? "404 Not Found" : "200 OK")\r\nContent-Type: \(data == nil ? "text/plain" : type)\r\n"
    + (["js", "css", "svg"].contains(file.pathExtension) ? "Cache-Control: max-age=600\r\n" : "")
    + "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
  (Data(head.utf8) + body).withUnsafeBytes { buffer in
    var sent = 0
    while sent < buffer.count, let base = buffer.baseAddress {
      let written = write(client, base + sent, buffer.count - sent)
      if written <= 0 { return }
      sent += written
    }
  }
}

// The part of Scripts/check-site that looks. The links of all pages are read from the site's data; Chromium, driven through
// its debugging pipe, shows the articles, the tutorial and the types, and follows their links, headings included; with `all`
// it shows every page.
import Foundation

let address = CommandLine.arguments[1]
let pipes = URL(filePath: CommandLine.arguments[2])
let screenshots = URL(filePath: CommandLine.arguments[3])
let site = URL(filePath: CommandLine.arguments[4])
let showsAll = CommandLine.arguments.contains("all")

/// Chromium's debugging protocol: JSON messages, each ended by a zero byte.
final class Browser {
  private let input: FileHandle
  private let output: FileHandle
  private var bytes = Data()
  private var number = 0
  /// What the page has said since it was asked for.
  var events: [[String: Any]] = []

  init(_ pipes: URL) throws {
    input = try FileHandle(forWritingTo: pipes.appending(path: "in"))
    output = try FileHandle(forReadingFrom: pipes.appending(path: "out"))
  }

  /// Sends a command and gives its result; what comes before that is kept as events.
  @discardableResult
  func call(_ method: String, _ parameters: [String: Any] = [:], session: String? = nil) throws -> [String: Any] {
    number += 1
    var message: [String: Any] = ["id": number, "method": method, "params": parameters]
    message["sessionId"] = session
    try input.write(contentsOf: JSONSerialization.data(withJSONObject: message) + [0])
    while let next = try receive() {
      if next["id"] as? Int == number {
        if let error = next["error"] { throw Failure("\(method): \(error)") }
        return next["result"] as? [String: Any] ?? [:]
      }
      events.append(next)
    }
    throw Failure("the browser has ended")
  }

  private func receive() throws -> [String: Any]? {
    while true {
      if let end = bytes.firstIndex(of: 0) {
        let message = bytes[bytes.startIndex..<end]
        bytes = Data(bytes[(end + 1)...])
        return try JSONSerialization.jsonObject(with: message) as? [String: Any]
      }
      let more = output.availableData
      if more.isEmpty { return nil }
      bytes += more
    }
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// One page as it was shown.
struct Page {
  var links: [String] = []
  var anchors: Set<String> = []
  var problems: [String] = []
  var words = 0
}

/// What runs in the page: waits until it is drawn, then tells its links.
let look = #"""
  new Promise(async resolve => {
    const drawn = () => document.querySelector('main h1, .tutorials-overview h1, .hero h1, .error-content, .message');
    for (let i = 0; i < 1200 && !drawn(); i++) await new Promise(next => setTimeout(next, 25));
    await new Promise(next => setTimeout(next, 60));
    await Promise.all([...document.images].map(image => image.complete ? null : new Promise(done => {
      image.onload = image.onerror = done; setTimeout(done, 2000);
    })));
    resolve(JSON.stringify({
      title: document.title,
      isDrawn: !!drawn(),
      isMissing: !!document.querySelector('.error-content'),
      links: [...document.querySelectorAll('a[href]')].map(a => a.href),
      anchors: [...document.querySelectorAll('[id]')].map(e => e.id),
      images: [...document.images].filter(i => i.complete && i.naturalWidth === 0).map(i => i.src),
      words: document.body.innerText.split(/\s+/).length,
    }));
  })
  """#

struct Seen: Decodable {
  let title: String
  let isDrawn: Bool
  let isMissing: Bool
  let links: [String]
  let anchors: [String]
  let images: [String]
  let words: Int
}

let browser = try Browser(pipes)
let target = try browser.call("Target.createTarget", ["url": "about:blank"])["targetId"] as? String ?? ""
let attached = try browser.call("Target.attachToTarget", ["targetId": target, "flatten": true])
let session = attached["sessionId"] as? String ?? ""
for domain in ["Page", "Runtime", "Log", "Network"] { try browser.call("\(domain).enable", session: session) }

func visit(_ url: String, attempts: Int = 5) throws -> Page {
  browser.events = []
  var page = Page()
  try browser.call("Page.navigate", ["url": url], session: session)
  let result = try browser.call(
    "Runtime.evaluate", ["expression": look, "awaitPromise": true, "returnByValue": true], session: session)
  if result["exceptionDetails"] != nil, attempts > 1 {
    // The page was still being replaced: once more, from the start.
    return try visit(url, attempts: attempts - 1)
  }
  let text = (result["result"] as? [String: Any])?["value"] as? String ?? "{}"
  let seen = try JSONDecoder().decode(Seen.self, from: Data(text.utf8))
  page.links = seen.links
  page.anchors = Set(seen.anchors)
  page.words = seen.words
  if !seen.isDrawn { page.problems.append("nothing is shown") }
  if seen.isMissing { page.problems.append("there is no such page") }
  page.problems += seen.images.map { "a picture is missing: \($0)" }
  for event in browser.events { page.problems += problem(event).map { [$0] } ?? [] }
  return page
}

/// What is wrong according to an event of the browser; nil for one that is not about a failure.
func problem(_ event: [String: Any]) -> String? {
  let parameters = event["params"] as? [String: Any] ?? [:]
  switch event["method"] as? String {
  case "Runtime.exceptionThrown": return "an exception: \(parameters["exceptionDetails"] ?? "")"
  case "Runtime.consoleAPICalled" where parameters["type"] as? String == "error":
    return "a console error: \(parameters["args"] ?? "")"
  case "Log.entryAdded":
    let entry = parameters["entry"] as? [String: Any] ?? [:]
    return entry["level"] as? String == "error" ? "\(entry["text"] ?? "") \(entry["url"] ?? "")" : nil
  case "Network.requestWillBeSent":
    let url = (parameters["request"] as? [String: Any])?["url"] as? String ?? ""
    return url.hasPrefix(address) || url.hasPrefix("data:") || url.hasPrefix("about:")
      ? nil : "it asks the network: \(url)"
  default: return nil
  }
}

// MARK: Every link, as the data of the pages has it

/// The addresses that a page's data refers to.
func references(in data: URL) throws -> [String] {
  guard let page = try JSONSerialization.jsonObject(with: Data(contentsOf: data)) as? [String: Any],
    let references = page["references"] as? [String: [String: Any]]
  else { return [] }
  return references.values.compactMap { $0["url"] as? String }
}

var problems: [String] = []
var linkCount = 0
let data = FileManager.default.enumerator(at: site.appending(path: "data"), includingPropertiesForKeys: nil)
for case let file as URL in data?.allObjects ?? [] where file.pathExtension == "json" {
  // A chapter of the tutorial is a place in its table of contents, and no page.
  for link in try references(in: file) where !link.contains("://") && !link.hasPrefix("/tutorials/tutorials/") {
    linkCount += 1
    guard link.hasPrefix("/") else {
      problems.append("\(file.lastPathComponent) leads to \(link), which is no page of the site")
      continue
    }
    let path = link.split(separator: "#", omittingEmptySubsequences: false)[0].lowercased()
    let target = site.appending(path: path)
    var isThere = FileManager.default.fileExists(atPath: target.appending(path: "index.html").path)
    if !target.pathExtension.isEmpty { isThere = isThere || FileManager.default.fileExists(atPath: target.path) }
    if !isThere { problems.append("\(file.lastPathComponent) leads to \(link), which is not there") }
  }
}

// MARK: Everything that can be reached

func pageAddress(_ link: String) -> (page: String, anchor: String?) {
  let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  var page = parts[0].split(separator: "?").first.map(String.init) ?? ""
  if !page.hasSuffix("/") { page += "/" }
  return (page.lowercased(), parts.count > 1 ? parts[1] : nil)
}

/// Articles and types are right below the module, and all of the tutorial counts.
func isShown(_ page: String) -> Bool {
  let parts = page.dropFirst(address.count).split(separator: "/")
  return parts.first != "documentation" || parts.count <= 3
}

let begun = Date()
var pages: [String: Page] = [:]
var wanted: [(page: String, anchor: String?, from: String)] = []
var waiting = [pageAddress(address + "documentation/quire").page]
var outside: Set<String> = []
while let next = waiting.popLast() {
  if pages[next] != nil { continue }
  let page = try visit(next)
  pages[next] = page
  if pages.count.isMultiple(of: 100) {
    FileHandle.standardError.write(Data("\(pages.count) pages, \(Int(-begun.timeIntervalSinceNow)) s\n".utf8))
  }
  for link in page.links {
    guard link.hasPrefix(address) else {
      outside.insert(link)
      continue
    }
    let (target, anchor) = pageAddress(link)
    wanted.append((target, anchor, next))
    if pages[target] == nil, showsAll || isShown(target) { waiting.append(target) }
  }
}

for (name, page) in pages.sorted(by: { $0.key < $1.key }) {
  let from = wanted.first { $0.page == name }.map { " (linked from \($0.from))" } ?? ""
  problems += page.problems.map { "\(name)\(from): \($0)" }
}
for (target, anchor, from) in wanted {
  guard let anchor, let page = pages[target], page.problems.isEmpty else { continue }
  let name = anchor.removingPercentEncoding ?? anchor
  if !page.anchors.contains(name), !page.anchors.contains(anchor), !name.isEmpty {
    problems.append("\(from): no such heading: \(target)#\(name)")
  }
}

let shown = [
  "documentation/quire", "documentation/quire/models", "documentation/quire/modelcontext", "tutorials/tutorials",
  "tutorials/quire/live",
]
for path in shown {
  for scheme in ["light", "dark"] {
    let features = [["name": "prefers-color-scheme", "value": scheme]]
    try browser.call("Emulation.setEmulatedMedia", ["features": features], session: session)
    _ = try visit(address + path + "/")
    let picture = try browser.call("Page.captureScreenshot", session: session)["data"] as? String ?? ""
    let name = path.replacing("/", with: "-") + (scheme == "dark" ? "-dark" : "") + ".png"
    try Data(base64Encoded: picture)?.write(to: screenshots.appending(path: name))
  }
}
for problem in Set(problems).sorted().prefix(50) { print("error: \(problem)") }
let words = pages.values.reduce(0) { $0 + $1.words }
print(
  "site: \(pages.count) pages shown, \(words) words; \(linkCount) links read, \(Set(wanted.map { $0.page + ($0.anchor ?? "") }).count) of them shown, "
    + "\(outside.count) out of it (not followed), \(Set(problems).count) problems, \(Int(-begun.timeIntervalSinceNow)) s"
)
try? browser.call("Browser.close")
exit(problems.isEmpty ? 0 : 1)

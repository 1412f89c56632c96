// The part of Scripts/contract that reads: the log of a run, and the page whose table is written.
import Foundation

/// A column of the table, and how the arguments of a test name it.
let columns = [
  ("set here", "→ set here"), ("another context", "→ another context's save"), ("SQL", "→ raw SQL"),
  ("trigger, cascade", "→ a trigger"), ("trigger, cascade", "→ a cascade"), ("another process", "→ another process"),
  ("plain objects", "→ plain objects"),
]
let headings = [
  "set here", "another context", "SQL", "trigger, cascade", "another process", "plain objects",
]

let log = try String(decoding: Data(contentsOf: URL(filePath: CommandLine.arguments[1])), as: UTF8.self)
let page = URL(filePath: CommandLine.arguments[2])

var held: [String: Set<String>] = [:]
var passed: Set<String> = []
let aCase = #/Test case passing \d+ arguments? (?<arguments>.*) to "(?<name>[A-F]\d+: .*)" started/#
let aPass = #/✔ Test "(?<name>[A-F]\d+: .*)" (with \d+ test cases? )?passed/#
let aSkip = #/➜ Test "(?<name>[A-F]\d+: .*)" skipped/#
for line in log.split(separator: "\n") {
  if let match = line.firstMatch(of: aCase) {
    let named = columns.filter { match.arguments.contains($0.1) }.map(\.0)
    held[String(match.name), default: []].formUnion(named)
  } else if let match = line.firstMatch(of: aPass) {
    passed.insert(String(match.name))
  } else if let match = line.firstMatch(of: aSkip) {
    print("error: skipped: \(match.name)")
    exit(1)
  }
}
guard !passed.isEmpty else {
  print("error: no line of the contract has run")
  exit(1)
}

/// Why a test is there for no source: what `/// By itself:` says above it.
var reasons: [String: String] = [:]
let anAlone = #/\/\/\/ By itself: (?<why>.*)\n\s*@Test[^`]*`(?<name>[A-F]\d+: [^`]+)`/#
let files = FileManager.default.enumerator(at: URL(filePath: "Tests"), includingPropertiesForKeys: nil)
for case let file as URL in files ?? .init() where file.pathExtension == "swift" {
  for match in try String(contentsOf: file, encoding: .utf8).matches(of: anAlone) {
    reasons[String(match.name)] = String(match.why)
  }
}

func order(_ name: String) -> (String, Int, String) {
  let line = name.prefix { $0 != ":" }
  return (String(line.prefix(1)), Int(line.dropFirst()) ?? 0, name)
}

var table = "| | behavior | " + headings.joined(separator: " | ") + " | by itself |\n"
table += "|---|---|" + headings.map { _ in ":-:|" }.joined() + "---|\n"
for name in passed.sorted(by: { order($0) < order($1) }) {
  let parts = name.split(separator: ": ", maxSplits: 1)
  let sources = held[name, default: []]
  let marks = headings.map { sources.contains($0) ? "✓" : "" }
  guard !sources.isEmpty || reasons[name] != nil else {
    print("error: it is not said why there is no source for: \(name)")
    exit(1)
  }
  let alone = sources.isEmpty ? reasons[name] ?? "" : ""
  table += "| \(parts[0]) | \(parts[1]) | " + (marks + [alone]).joined(separator: " | ") + " |\n"
}

let begin = "<!-- begin: lines -->\n"
let end = "<!-- end: lines -->"
let text = try String(contentsOf: page, encoding: .utf8)
guard let from = text.range(of: begin), let to = text.range(of: end) else {
  print("error: the page has no place for the table")
  exit(1)
}
try Data((text[..<from.upperBound] + "\n" + table + "\n" + text[to.lowerBound...]).utf8).write(to: page)
print("\(passed.count) tests of the contract passed; their table is in \(page.relativePath)")

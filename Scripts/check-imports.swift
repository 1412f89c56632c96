// The part of Scripts/check-imports that reads: the package's description (a file of JSON) and its sources.
import Foundation

struct Package: Decodable {
  struct Target: Decodable {
    let name: String
    let c99name: String
    let path: String
    let sources: [String]
    let target_dependencies: [String]?
  }
  let path: String
  let targets: [Target]
}

/// The module of an import declaration, or nil for any other line.
///
/// Takes attributes, an access level and a kind: `@testable import A`, `public import struct A.B`. Lines inside
/// comments that begin as an import does are taken for one, too.
func importedModule(_ line: Substring) -> Substring? {
  var words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == ";" })[...]
  let mayStandBefore: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
  while let word = words.first, word.hasPrefix("@") || mayStandBefore.contains(word) { words.removeFirst() }
  guard words.popFirst() == "import" else { return nil }
  let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var", "actor"]
  if let word = words.first, kinds.contains(word) { words.removeFirst() }
  return words.first?.prefix { $0 != "." }
}

let package = try JSONDecoder().decode(
  Package.self, from: Data(contentsOf: URL(filePath: CommandLine.arguments[1])))
var nameOfModule: [Substring: String] = [:]
for target in package.targets { nameOfModule[target.c99name[...]] = target.name }

var undeclared: [String] = []
for target in package.targets {
  let declared = Set((target.target_dependencies ?? []) + [target.name])
  for source in target.sources.sorted() where source.hasSuffix(".swift") {
    let file = "\(target.path)/\(source)"
    let text = try String(contentsOf: URL(filePath: "\(package.path)/\(file)"), encoding: .utf8)
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      guard line.contains("import "), let module = importedModule(line), let name = nameOfModule[module],
        !declared.contains(name)
      else { continue }
      undeclared.append("\(file):\(index + 1): \(target.name) imports \(name) and does not declare it in Package.swift")
    }
  }
}
for line in undeclared { print("error: \(line)") }
exit(undeclared.isEmpty ? 0 : 1)

// The part of Scripts/count-public that counts: the symbol graphs of a folder. What begins with an underscore, as all that
// only generated code uses, is in none.
//
// A declaration is one that is written in Sources: a type, a case, a member, a function or a macro, each overload by itself,
// witnesses such as `description` and `==` too. Members that the compiler makes (`init(from:)` of a Codable type,
// `init(rawValue:)`) and those that a type has from a protocol's extension are not counted.
import Foundation

/// What there may be at most. They only ever go down.
let ceilings = (declarations: 1022, types: 114, undocumented: 0)

struct Graph: Decodable {
  struct Symbol: Decodable {
    struct Identifier: Decodable { let precise: String }
    struct Kind: Decodable { let identifier: String }
    struct Documentation: Decodable {}
    struct Location: Decodable {
      struct Position: Decodable { let line: Int }
      let uri: String
      let position: Position
    }
    let identifier: Identifier
    let kind: Kind
    let pathComponents: [String]
    /// Its own, or that of the requirement it fulfils.
    let docComment: Documentation?
    let location: Location?
  }
  let symbols: [Symbol]
}

let folder = URL(filePath: CommandLine.arguments[1])
var symbols: [String: Graph.Symbol] = [:]
for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
  for symbol in try JSONDecoder().decode(Graph.self, from: Data(contentsOf: file)).symbols
  where symbol.kind.identifier != "swift.extension" && !symbol.identifier.precise.contains("::SYNTHESIZED::")
    && symbol.location != nil
  {
    symbols[symbol.identifier.precise] = symbol
  }
}

let kindsOfTypes: Set = [
  "swift.struct", "swift.class", "swift.enum", "swift.protocol", "swift.typealias", "swift.actor",
]
let types = symbols.values.filter { $0.pathComponents.count == 1 && kindsOfTypes.contains($0.kind.identifier) }
let undocumented = symbols.values.filter { $0.docComment == nil }.map { symbol in
  let name = symbol.pathComponents.joined(separator: ".")
  guard let location = symbol.location, let place = location.uri.range(of: "/Sources/") else { return name }
  return "\(location.uri[place.lowerBound...].dropFirst()):\(location.position.line + 1): \(name)"
}

// Documentation/Types.md has a line for each type, and for nothing else.
let page = try String(contentsOfFile: "Documentation/Types.md", encoding: .utf8)
let listed = Set(
  page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { String($0.dropFirst(3).prefix { $0 != "`" }) })
let names = Set(types.map { $0.pathComponents[0] })

var isWrong = false
func report(_ count: Int, _ ceiling: Int, _ what: String) {
  print("\(count) \(what); at most \(ceiling) may be")
  if count > ceiling { isWrong = true }
}
for line in undocumented.sorted() { print("without a doc comment: \(line)") }
for name in names.subtracting(listed).sorted() { print("without a line in Documentation/Types.md: \(name)") }
for name in listed.subtracting(names).sorted() { print("in Documentation/Types.md, and not a public type: \(name)") }
report(symbols.count, ceilings.declarations, "public declarations")
report(types.count, ceilings.types, "top-level types")
report(undocumented.count, ceilings.undocumented, "declarations without a doc comment")
exit(isWrong || names != listed ? 1 : 0)

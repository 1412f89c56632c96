// The part of Scripts/count-public that counts: the symbol graphs of a folder. What begins with an underscore, as all that
// only generated code uses, is in none.
import Foundation

/// How many public declarations may lack a doc comment. It only ever goes down.
let ceiling = 0

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
  where symbol.kind.identifier != "swift.extension" && !symbol.identifier.precise.contains("::SYNTHESIZED::") {
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

for line in undocumented.sorted() { print("without a doc comment: \(line)") }
print("\(symbols.count) public declarations, \(types.count) top-level types")
print("\(undocumented.count) without a doc comment; at most \(ceiling) may be")
exit(undocumented.count <= ceiling ? 0 : 1)

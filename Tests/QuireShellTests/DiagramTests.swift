import Foundation
import FoundationXML
import TestSupport
import Testing

@testable import QuireShell

/// `.schema --diagram`: the models of a file as text for Mermaid and as a picture.
@Suite struct DiagramTests {
  @Test func `a diagram has models, columns, keys and what relations have at both ends`() async throws {
    let session = try Library().session()
    let text = try await session.said(".schema --diagram")
    #expect(
      text.hasPrefix(
        """
        erDiagram
          "Author" {
            integer id PK
            text name
            integer born
          }
        """))
    // Required and optional references, one that is unique, two columns as one key, a model that leads to itself.
    for line in [
      #""Book" ||--o{ "Copy" : "book / copies""#, #""Author" |o--o{ "Book" : "author / books""#,
      #""Author" |o--o| "Profile" : "author / profile""#, #""Category" |o--o{ "Category" : "parent / children""#,
      #""Shelf" |o--o{ "Copy" : "shelf / copies""#,
    ] {
      #expect(text.contains("\n  " + line), "\(line)")
    }
    // A join table that is nothing else is a line; one with a key of its own is a box.
    #expect(text.contains(#""Tag" }o--o{ "Book" : "tags / books""#) && !text.contains("BookTag"))
    #expect(text.contains("\"Copy\" {"))
    #expect(try await session.said(".schema --diagram;") == text)
  }

  @Test func `a diagram around a model has what it leads to and no more`() async throws {
    let session = try Library().session()
    let text = try await session.said(".schema category --diagram")
    #expect(text.contains("\"Category\" {") && !text.contains("Book"))
    #expect(await session.failure(".schema Bok --diagram").contains("did you mean Book?"))
    let near = try await session.said(".schema --diagram Copy")
    #expect(near.contains("\"Shelf\" {") && near.contains("\"Book\" {") && !near.contains("\"Author\" {"))
  }

  @Test func `a relation that only a name says is dotted`() async throws {
    let library = try Library(
      "CREATE TABLE albums (id INTEGER PRIMARY KEY, artist_id); CREATE TABLE artists (id INTEGER PRIMARY KEY, name)")
    let session = try library.session()
    #expect(try await session.said(".schema --diagram").contains(#""Artist" |o..o{ "Album""#))
    #expect(try await session.said(".schema --svg").contains("class=\"line guess\""))
  }

  // MARK: Hostile names

  /// Two tables that would share a model's name keep their own.
  private static let hostile = #"""
    CREATE TABLE "<script>alert(1)</script>" ("pk" INTEGER PRIMARY KEY, "two words" TEXT, "größe" "DECIMAL(10, 2)");
    CREATE TABLE "<script>ALERT(1)</script >" ("日本語の列" TEXT, "a;b{c}%\" BLOB, "" TEXT, "fk" INTEGER, "uké" INTEGER, "1st" INTEGER,
      up INTEGER REFERENCES "a""b %% \ ]]> {x} # &amp;");
    CREATE TABLE "a""b %% \ ]]> {x} # &amp;" (id INTEGER PRIMARY KEY, "title" TEXT);
    CREATE TABLE "A""B %% \ ]]> {X} # &AMP; " (id INTEGER PRIMARY KEY);
    CREATE TABLE "line
    break" (x); CREATE TABLE "LINE break" ("\#u{1B}[31m" INTEGER, "\#u{202E}x\#u{FFFF}" "</style>");
    """#

  @Test func `no name is taken for a word of Mermaid`() async throws {
    let session = try Library(Self.hostile).session()
    let lines = try await session.said(".schema --diagram").split(separator: "\n")
    let word = #"[\p{L}_][\p{L}\d_()]*"#
    let name = #""[^"%\\<>`{}]+""#
    let forms = try [
      "erDiagram", "  \(name) \\{", "  \\}",
      "    \(word) \(word)( PK| FK| PK, FK)?( \"[^\"%\\\\<>`{}]*\")?",
      "  \(name) (\\|\\||\\|o|\\}o)(--|\\.\\.)(o\\{|o\\|) \(name) : \(name)",
    ].map { try Regex($0) }
    for line in lines { #expect(forms.contains { line.wholeMatch(of: $0) != nil }, "\(line)") }
    #expect(
      lines.contains { $0.contains("_pk PK \"pk\"") } && lines.contains { $0.contains("two_words \"two words\"") })
  }

  @Test func `a picture is XML, and nothing but a picture`() async throws {
    let session = try Library(Self.hostile).session()
    let elements = Elements(try await session.said(".schema --diagram --svg"))
    #expect(elements.failure == nil)
    #expect(elements.names.isSubset(of: ["svg", "title", "style", "rect", "g", "text", "tspan", "path", "circle"]))
    #expect(elements.attributes.allSatisfy { !$0.hasPrefix("on") && $0 != "href" })
    #expect(elements.text.contains("<script>ALERT(1)</script >"))
  }

  @Test func `a file without tables has no diagram`() async throws {
    let session = try Library("CREATE TABLE a (x); DROP TABLE a").session()
    #expect(await session.failure(".schema --diagram").contains("the file has no tables"))
  }

  @Test func `a diagram is saved by the ending of the file's name`() async throws {
    let library = try Library()
    let session = try library.session()
    let picture = library.folder.appending(path: "library.svg").path
    #expect(try await session.said(".save \(picture) .schema --diagram") == "a diagram in \(picture)")
    #expect(try String(contentsOfFile: picture, encoding: .utf8).hasPrefix("<svg xmlns="))
    let text = library.folder.appending(path: "library.mmd").path
    _ = try await session.said(".save \(text) .schema --diagram Book")
    #expect(try String(contentsOfFile: text, encoding: .utf8).hasPrefix("erDiagram\n"))
    #expect(await session.failure(".save \(library.file.path) .schema --diagram").contains("is the database itself"))
  }

  // MARK: Layout

  @Test(arguments: 0..<40) func `boxes do not overlap, and lines lead from left to right`(seed: Int) {
    var random = Random(seed: UInt64(seed))
    let count = Int.random(in: 1...40, using: &random)
    let sizes = (0..<count).map { _ in
      DiagramLayout.Size(width: .random(in: 80...300, using: &random), height: .random(in: 40...400, using: &random))
    }
    let wanted = (0..<Int.random(in: 0...2 * count, using: &random)).map { _ in
      (Int.random(in: 0..<count, using: &random), Int.random(in: 0..<count, using: &random))
    }
    let pairs = DiagramLayout.acyclic(wanted.filter { $0.0 != $0.1 }, count: count)
    let edges = pairs.map { DiagramLayout.Edge(left: $0.0, right: $0.1, leftPort: 15, rightPort: 20) }
    let layout = DiagramLayout(sizes, edges)
    for one in 0..<count {
      let (a, size) = (layout.corners[one], sizes[one])
      #expect(a.x >= 0 && a.y >= 0)
      #expect(a.x + size.width <= layout.size.width + 0.1 && a.y + size.height <= layout.size.height + 0.1)
      for other in 0..<one {
        let b = layout.corners[other]
        let isApart =
          a.x + size.width < b.x || b.x + sizes[other].width < a.x || a.y + size.height < b.y
          || b.y + sizes[other].height < a.y
        #expect(isApart, "\(one) and \(other)")
      }
    }
    for (edge, way) in zip(edges, layout.ways) {
      #expect(
        way.first == .init(x: layout.corners[edge.left].x + sizes[edge.left].width, y: layout.corners[edge.left].y + 15)
      )
      #expect(way.last == .init(x: layout.corners[edge.right].x, y: layout.corners[edge.right].y + 20))
      #expect(zip(way, way.dropFirst()).allSatisfy { $0.x <= $1.x })
    }
  }

  @Test(.timeLimit(.minutes(60))) func `two hundred tables are drawn`() async throws {
    let tables = (0..<200).map { place in
      "CREATE TABLE t\(place) (id INTEGER PRIMARY KEY, a REFERENCES t\(place / 3), b REFERENCES t\((place * 7) % 200));"
    }
    let session = try Library(tables.joined()).session()
    #expect(Elements(try await session.said(".schema --svg")).failure == nil)
  }
}

/// Names of elements and attributes of an XML document, and its text.
private final class Elements: NSObject, XMLParserDelegate {
  var names: Set<String> = []
  var attributes: Set<String> = []
  var text = ""
  var failure: (any Error)?

  init(_ document: String) {
    super.init()
    let parser = XMLParser(data: Data(document.utf8))
    parser.delegate = self
    if !parser.parse() { failure = parser.parserError ?? CocoaError(.formatting) }
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    names.insert(name)
    self.attributes.formUnion(attributes.keys)
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
}

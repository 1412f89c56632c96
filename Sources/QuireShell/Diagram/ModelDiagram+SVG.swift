extension ModelDiagram {
  /// An SVG document that needs nothing else: it follows the viewer's light or dark scheme, and has no scripts.
  ///
  /// - Parameter width: How many cells a text takes.
  func svg(width: @escaping (String) -> Int = { $0.count }) -> [String] {
    var drawing = DiagramDrawing(cells: width)
    drawing.draw(self)
    return drawing.document
  }
}

/// Draws a ``ModelDiagram`` as SVG.
private struct DiagramDrawing {
  typealias Point = DiagramLayout.Point

  let cells: (String) -> Int
  private(set) var document: [String] = []

  private static let cell = 7.5
  private static let row = 21.0
  private static let head = 30.0
  private static let margin = 24.0

  init(cells: @escaping (String) -> Int) { self.cells = cells }

  // MARK: Sizes

  private func shown(_ text: String, atMost limit: Int = 40) -> String {
    let text = printable(text)
    if cells(text) <= limit { return text }
    return String(text.prefix(limit - 1)) + "…"
  }

  private func size(_ box: ModelDiagram.Box) -> DiagramLayout.Size {
    let rows = box.columns.map { cells(shown($0.name)) + cells(shown($0.type, atMost: 20)) + 3 }
    let title = Double(cells(shown(box.name)) + (box.kind.isEmpty ? 0 : box.kind.count + 2)) * 1.1
    let count = max(Double(rows.max() ?? 0) + 4, title, 12)
    return DiagramLayout.Size(
      width: (count * Self.cell + 24).rounded(), height: Self.head + Double(box.columns.count) * Self.row + 8)
  }

  private func labelWidth(_ line: ModelDiagram.Line) -> Double { Double(cells(shown(line.label))) * 6.7 }

  private func port(_ column: Int?) -> Double {
    column.map { Self.head + 4 + (Double($0) + 0.5) * Self.row } ?? Self.head / 2
  }

  // MARK: The document

  mutating func draw(_ diagram: ModelDiagram) {
    let sizes = diagram.boxes.map { size($0) }
    // The referenced box is left of the one that refers to it.
    let joined = diagram.lines.indices.filter { diagram.lines[$0].from != diagram.lines[$0].to }
    let pairs = joined.map { (diagram.lines[$0].to, diagram.lines[$0].from) }
    let turned = DiagramLayout.acyclic(pairs, count: sizes.count)
    let edges = zip(joined, turned).map { place, pair in
      let line = diagram.lines[place]
      let isForth = pair.0 == line.to
      let ports = (to: port(line.columns?.to), from: port(line.columns?.from))
      return DiagramLayout.Edge(
        left: pair.0, right: pair.1, leftPort: isForth ? ports.to : ports.from,
        rightPort: isForth ? ports.from : ports.to, label: line.columns == nil ? labelWidth(line) + 48 : 0)
    }
    let layout = DiagramLayout(sizes, edges)
    let loops = diagram.lines.contains { $0.from == $0.to } ? 40.0 : 0
    begin(width: layout.size.width + 2 * Self.margin + loops, height: layout.size.height + 2 * Self.margin, diagram)
    for (place, edge) in zip(joined, edges.indices) {
      draw(diagram.lines[place], diagram, layout.ways[edge], isForth: turned[edge].0 == diagram.lines[place].to)
    }
    for line in diagram.lines where line.from == line.to {
      drawLoop(line, diagram, layout.corners[line.from], sizes[line.from].width)
    }
    for (place, box) in diagram.boxes.enumerated() { draw(box, at: layout.corners[place], sizes[place]) }
    document += ["</g>", "</svg>"]
  }

  private mutating func begin(width: Double, height: Double, _ diagram: ModelDiagram) {
    let names = diagram.boxes.prefix(12).map { Self.escaped(shown($0.name)) }.joined(separator: ", ")
    let size = (Self.number(width), Self.number(height))
    document = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"quire-diagram\" role=\"img\" width=\"\(size.0)\" "
        + "height=\"\(size.1)\" viewBox=\"0 0 \(size.0) \(size.1)\">",
      "<title>\(diagram.boxes.count) models: \(names)\(diagram.boxes.count > 12 ? " …" : "")</title>",
    ]
    document += Self.style.split(separator: "\n").map(String.init)
    document.append("<rect class=\"page\" width=\"100%\" height=\"100%\"/>")
    document.append("<g transform=\"translate(\(Self.number(Self.margin)) \(Self.number(Self.margin)))\">")
  }

  private static let style = """
    <style>
    .quire-diagram{--page:#ffffff;--box:#f7f8fa;--head:#e3e9f3;--edge:#8a97ab;--text:#1d2430;--dim:#5d6a7e;--key:#8a5a00}
    @media(prefers-color-scheme:dark){.quire-diagram{--page:#16181d;--box:#1f232b;--head:#2c3647;--edge:#8291a8;--text:#e8ecf3;--dim:#a3afc2;--key:#e5b567}}
    .quire-diagram .page{fill:var(--page)}
    .quire-diagram text{font:12.5px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--text)}
    .quire-diagram .title{font-size:13.5px;font-weight:700}
    .quire-diagram .dim{fill:var(--dim)}
    .quire-diagram .key{fill:var(--key);font-size:10px;font-weight:700}
    .quire-diagram .label{fill:var(--dim);font-size:11px;text-anchor:middle;stroke:var(--page);stroke-width:4px;paint-order:stroke}
    .quire-diagram .box{fill:var(--box);stroke:var(--edge)}
    .quire-diagram .head{fill:var(--head)}
    .quire-diagram .line{fill:none;stroke:var(--edge);stroke-width:1.4}
    .quire-diagram .guess{stroke-dasharray:5 4}
    .quire-diagram .end{fill:var(--page);stroke:var(--edge);stroke-width:1.4}
    </style>
    """

  // MARK: Boxes

  private mutating func draw(_ box: ModelDiagram.Box, at corner: Point, _ size: DiagramLayout.Size) {
    let (width, height) = (Self.number(size.width), Self.number(size.height))
    document.append("<g transform=\"translate(\(Self.number(corner.x)) \(Self.number(corner.y)))\">")
    document.append("<title>\(Self.escaped(printable(box.name)))</title>")
    document.append("<rect class=\"box\" width=\"\(width)\" height=\"\(height)\" rx=\"6\"/>")
    document.append(
      "<path class=\"head\" d=\"M0.7 \(Self.number(Self.head))V6.7a6 6 0 0 1 6-6H\(Self.number(size.width - 6.7))"
        + "a6 6 0 0 1 6 6V\(Self.number(Self.head))Z\"/>")
    var title = "<text class=\"title\" x=\"12\" y=\"20\">\(Self.escaped(shown(box.name)))"
    if !box.kind.isEmpty { title += "<tspan class=\"dim\" font-weight=\"400\"> \(box.kind)</tspan>" }
    document.append(title + "</text>")
    for (place, column) in box.columns.enumerated() {
      let y = Self.number(port(place) + 4)
      let keys = (column.isKey ? "PK" : "") + (column.isKey && column.isReference ? " " : "")
      let mark = keys + (column.isReference ? "FK" : "")
      if !mark.isEmpty {
        document.append("<text class=\"key\" x=\"8\" y=\"\(y)\">\(mark == "PK FK" ? "PFK" : mark)</text>")
      }
      let name = Self.escaped(shown(column.name))
      let type = Self.escaped(shown(column.type, atMost: 20)) + (column.isRequired || column.isKey ? "" : "?")
      document.append("<text x=\"32\" y=\"\(y)\">\(name)</text>")
      document.append(
        "<text class=\"dim\" x=\"\(Self.number(size.width - 12))\" y=\"\(y)\" text-anchor=\"end\">\(type)</text>")
    }
    document.append("</g>")
  }

  // MARK: Lines

  private mutating func draw(_ line: ModelDiagram.Line, _ diagram: ModelDiagram, _ way: [Point], isForth: Bool) {
    guard let first = way.first, let last = way.last else { return }
    var path = "M\(Self.pair(Point(x: first.x + 16, y: first.y)))"
    var at = Point(x: first.x + 16, y: first.y)
    for (place, point) in way.enumerated().dropFirst() {
      let next = place == way.count - 1 ? Point(x: last.x - 16, y: last.y) : point
      if place.isMultiple(of: 2), place != way.count - 1 {
        path += "H\(Self.number(next.x))"
      } else {
        let middle = (at.x + next.x) / 2
        path += "C\(Self.pair(Point(x: middle, y: at.y))) \(Self.pair(Point(x: middle, y: next.y))) \(Self.pair(next))"
      }
      at = next
    }
    add(line, diagram, path)
    end(isForth ? line.toEnd : line.fromEnd, at: first, toward: 1)
    end(isForth ? line.fromEnd : line.toEnd, at: last, toward: -1)
    guard line.columns == nil else { return }
    let next = way.count > 2 ? way[1] : last
    document.append(
      "<text class=\"label\" x=\"\(Self.number(next.x - 24 - labelWidth(line) / 2))\" y=\"\(Self.number((first.y + next.y) / 2 - 5))\">"
        + "\(Self.escaped(shown(line.label)))</text>")
  }

  private mutating func drawLoop(_ line: ModelDiagram.Line, _ diagram: ModelDiagram, _ corner: Point, _ width: Double) {
    let x = corner.x + width
    let to = Point(x: x, y: corner.y + port(line.columns?.to))
    var from = Point(x: x, y: corner.y + port(line.columns?.from))
    if from.y == to.y { from.y -= 10 }
    let bend = x + 58
    add(
      line, diagram,
      "M\(Self.number(x + 16)) \(Self.number(from.y))C\(Self.number(bend)) \(Self.number(from.y)) \(Self.number(bend)) "
        + "\(Self.number(to.y)) \(Self.number(x + 16)) \(Self.number(to.y))")
    end(line.fromEnd, at: from, toward: 1)
    end(line.toEnd, at: to, toward: 1)
  }

  private mutating func add(_ line: ModelDiagram.Line, _ diagram: ModelDiagram, _ path: String) {
    let names = "\(diagram.boxes[line.from].name) → \(diagram.boxes[line.to].name): \(line.label)"
    document.append(
      "<path class=\"line\(line.isDeclared ? "" : " guess")\" d=\"\(path)\"><title>\(Self.escaped(printable(names)))</title></path>"
    )
  }

  /// What a line ends in, over 16 points from the box: bars for one, a circle for none, a crow's foot for many.
  private mutating func end(_ kind: ModelDiagram.End, at point: Point, toward side: Double) {
    func x(_ distance: Double) -> String { Self.number(point.x + side * distance) }
    let y = Self.number(point.y)
    var path = "M\(x(0)) \(y)H\(x(16))"
    func bar(_ distance: Double) -> String {
      "M\(x(distance)) \(Self.number(point.y - 5))V\(Self.number(point.y + 5))"
    }
    var circle: String?
    switch kind {
    case .one: path += bar(6) + bar(10)
    case .zeroOrOne:
      path += bar(5)
      circle = x(12)
    case .many:
      path += "M\(x(0)) \(Self.number(point.y - 5))L\(x(9)) \(y)L\(x(0)) \(Self.number(point.y + 5))"
      circle = x(12.5)
    }
    document.append("<path class=\"line\" d=\"\(path)\"/>")
    if let circle { document.append("<circle class=\"end\" cx=\"\(circle)\" cy=\"\(y)\" r=\"3.5\"/>") }
  }

  // MARK: Text

  private static func number(_ value: Double) -> String {
    let rounded = (value * 10).rounded() / 10
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
  }

  private static func pair(_ point: Point) -> String { "\(number(point.x)) \(number(point.y))" }

  /// Text of an element or an attribute. What XML has no place for becomes U+FFFD.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

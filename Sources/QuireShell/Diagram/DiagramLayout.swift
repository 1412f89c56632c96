/// Places for boxes that lines join, in layers from left to right, and ways for the lines around the boxes.
///
/// The method of Sugiyama: boxes get layers, so that a line leads to the right; a line over several layers gets a place in
/// each of them; the order in a layer follows that of its neighbors; then heights are moved toward those of the neighbors.
struct DiagramLayout {
  struct Size {
    var width: Double
    var height: Double
  }

  struct Point: Equatable {
    var x: Double
    var y: Double
  }

  /// A line from the right side of one box to the left side of another, at a height below each one's top.
  struct Edge {
    var left: Int
    var right: Int
    var leftPort: Double
    var rightPort: Double
    /// What its text needs between two layers.
    var label = 0.0
  }

  /// The upper left corner of each box.
  private(set) var corners: [Point]
  /// For each line: its two ends, and between them where it enters and leaves the layers on its way.
  private(set) var ways: [[Point]]
  private(set) var size = Size(width: 0, height: 0)

  private static let gap = 24.0

  /// - Parameter edges: No edge from a box to itself, and no cycles: see ``acyclic(_:count:)``.
  init(_ sizes: [Size], _ edges: [Edge]) {
    corners = Array(repeating: Point(x: 0, y: 0), count: sizes.count)
    ways = Array(repeating: [], count: edges.count)
    var parts: [(boxes: [Int], layers: LayeredBoxes)] = []
    for boxes in Self.components(sizes.count, edges) {
      parts.append((boxes, LayeredBoxes(boxes, sizes, edges)))
    }
    pack(parts, edges)
  }

  /// Puts the parts that no line joins into rows, high ones first.
  private mutating func pack(_ parts: [(boxes: [Int], layers: LayeredBoxes)], _ edges: [Edge]) {
    let area = parts.reduce(0) { $0 + ($1.layers.size.width + Self.gap) * ($1.layers.size.height + Self.gap) }
    let limit = max(parts.map(\.layers.size.width).max() ?? 0, (area * 1.6).squareRoot())
    var (x, y, height) = (0.0, 0.0, 0.0)
    for (_, part) in parts.sorted(by: { $0.layers.size.height > $1.layers.size.height }) {
      if x > 0, x + part.size.width > limit { (x, y, height) = (0, y + height + 2 * Self.gap, 0) }
      for (box, corner) in part.corners { corners[box] = Point(x: x + corner.x, y: y + corner.y) }
      for (edge, way) in part.ways { ways[edge] = way.map { Point(x: x + $0.x, y: y + $0.y) } }
      size.width = max(size.width, x + part.size.width)
      x += part.size.width + 2 * Self.gap
      height = max(height, part.size.height)
      size.height = max(size.height, y + height)
    }
  }

  /// Sets of boxes that lines join.
  private static func components(_ count: Int, _ edges: [Edge]) -> [[Int]] {
    var near = Array(repeating: [Int](), count: count)
    for edge in edges {
      near[edge.left].append(edge.right)
      near[edge.right].append(edge.left)
    }
    var isSeen = Array(repeating: false, count: count)
    var found: [[Int]] = []
    for start in 0..<count where !isSeen[start] {
      isSeen[start] = true
      var part = [start]
      var next = 0
      while next < part.count {
        for box in near[part[next]] where !isSeen[box] {
          isSeen[box] = true
          part.append(box)
        }
        next += 1
      }
      found.append(part)
    }
    return found
  }

  /// The pairs with those turned around that would close a cycle; a line that is turned around is drawn from right to left.
  static func acyclic(_ pairs: [(Int, Int)], count: Int) -> [(Int, Int)] {
    var next = Array(repeating: [Int](), count: count)
    for (place, pair) in pairs.enumerated() { next[pair.0].append(place) }
    var result = pairs
    // 0 not seen, 1 on the way here, 2 done.
    var state = Array(repeating: 0, count: count)
    for root in 0..<count where state[root] == 0 {
      var stack = [(box: root, edge: 0)]
      state[root] = 1
      while let (box, edge) = stack.last {
        guard edge < next[box].count else {
          state[box] = 2
          stack.removeLast()
          continue
        }
        stack[stack.count - 1].edge += 1
        let place = next[box][edge]
        let target = pairs[place].1
        if state[target] == 1 {
          result[place] = (target, box)
        } else if state[target] == 0 {
          state[target] = 1
          stack.append((target, 0))
        }
      }
    }
    return result
  }
}

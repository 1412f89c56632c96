/// One part of a ``DiagramLayout``: boxes that lines join, in layers.
struct LayeredBoxes {
  typealias Edge = DiagramLayout.Edge
  typealias Point = DiagramLayout.Point
  typealias Size = DiagramLayout.Size

  private(set) var corners: [Int: Point] = [:]
  private(set) var ways: [Int: [Point]] = [:]
  private(set) var size = Size(width: 0, height: 0)

  /// A box, or the place where a line passes a layer.
  private struct Node {
    let box: Int?
    let size: Size
    let layer: Int
    var y = 0.0
    /// Neighbors in the layers beside it: the node, the height of the line there, and its height here.
    var left: [(node: Int, port: Double, own: Double)] = []
    var right: [(node: Int, port: Double, own: Double)] = []
  }

  private var nodes: [Node] = []
  private var layers: [[Int]] = []
  /// The nodes that a line passes, from its left box to its right one.
  private var chains: [(edge: Int, nodes: [Int])] = []
  private static let gap = 24.0

  init(_ boxes: [Int], _ sizes: [Size], _ edges: [Edge]) {
    let members = Set(boxes)
    let own = edges.indices.filter { members.contains(edges[$0].left) }
    build(boxes, sizes, edges, own, Self.layers(boxes, sizes, edges, own))
    order()
    for round in 0..<12 { settle(leftward: round.isMultiple(of: 2)) }
    place(edges)
  }

  // MARK: Layers

  /// A layer for each box, right of all boxes that lead to it, and none much higher than the part is wide.
  private static func layers(_ boxes: [Int], _ sizes: [Size], _ edges: [Edge], _ own: [Int]) -> [Int: Int] {
    var before: [Int: Set<Int>] = [:]
    var after: [Int: Set<Int>] = [:]
    for edge in own {
      before[edges[edge].right, default: []].insert(edges[edge].left)
      after[edges[edge].left, default: []].insert(edges[edge].right)
    }
    let area = boxes.reduce(0) { $0 + (sizes[$1].width + 90) * (sizes[$1].height + gap) }
    let limit = max(boxes.map { sizes[$0].height }.max() ?? 0, area.squareRoot())
    var heights: [Double] = []
    var layer: [Int: Int] = [:]
    var waiting = before.mapValues(\.count)
    var ready = boxes.filter { before[$0] == nil }
    var next = 0
    while next < ready.count {
      let box = ready[next]
      next += 1
      var own = (before[box] ?? []).map { (layer[$0] ?? 0) + 1 }.max() ?? 0
      while own < heights.count, heights[own] > 0, heights[own] + sizes[box].height > limit { own += 1 }
      while heights.count <= own { heights.append(0) }
      heights[own] += sizes[box].height + gap
      layer[box] = own
      for right in (after[box] ?? []).sorted() {
        waiting[right, default: 1] -= 1
        if waiting[right] == 0 { ready.append(right) }
      }
    }
    // A box that nothing leads to stands beside the first that it leads to.
    for box in boxes where before[box] == nil {
      if let first = (after[box] ?? []).compactMap({ layer[$0] }).min() { layer[box] = first - 1 }
    }
    return layer
  }

  private mutating func build(
    _ boxes: [Int], _ sizes: [Size], _ edges: [Edge], _ own: [Int], _ layer: [Int: Int]
  ) {
    layers = Array(repeating: [], count: (layer.values.max() ?? 0) + 1)
    var places: [Int: Int] = [:]
    for box in boxes {
      places[box] = add(Node(box: box, size: sizes[box], layer: layer[box] ?? 0))
    }
    for edge in own {
      guard let left = places[edges[edge].left], let right = places[edges[edge].right] else { continue }
      var chain = [left]
      for between in (nodes[left].layer + 1)..<max(nodes[right].layer, nodes[left].layer + 1) {
        chain.append(add(Node(box: nil, size: Size(width: 0, height: 10), layer: between)))
      }
      chain.append(right)
      for (from, to) in zip(chain, chain.dropFirst()) {
        let ports = (
          from: from == left ? edges[edge].leftPort : 5, to: to == right ? edges[edge].rightPort : 5
        )
        nodes[from].right.append((to, ports.to, ports.from))
        nodes[to].left.append((from, ports.from, ports.to))
      }
      chains.append((edge, chain))
    }
  }

  private mutating func add(_ node: Node) -> Int {
    layers[node.layer].append(nodes.count)
    nodes.append(node)
    return nodes.count - 1
  }

  // MARK: Order and heights

  /// Orders each layer by the middle of its neighbors, forth and back.
  private mutating func order() {
    for layer in layers.indices { stack(layer) }
    for round in 0..<8 {
      let isForth = round.isMultiple(of: 2)
      for layer in isForth ? Array(layers.indices) : layers.indices.reversed() {
        let wished = layers[layer].map { node -> (Int, Double) in
          (node, wish(node, leftward: isForth) ?? nodes[node].y)
        }
        layers[layer] = wished.enumerated().sorted {
          ($0.element.1, $0.offset) < ($1.element.1, $1.offset)
        }.map(\.element.0)
        stack(layer)
      }
    }
  }

  private mutating func stack(_ layer: Int) {
    let height = layers[layer].reduce(-Self.gap) { $0 + nodes[$1].size.height + Self.gap }
    var y = -height / 2
    for node in layers[layer] {
      nodes[node].y = y
      y += nodes[node].size.height + Self.gap
    }
  }

  /// The height at which the lines to a node's neighbors would be level; nil without neighbors there.
  private func wish(_ node: Int, leftward: Bool) -> Double? {
    let near = leftward ? nodes[node].left : nodes[node].right
    if near.isEmpty { return nil }
    return near.reduce(0) { $0 + nodes[$1.node].y + $1.port - $1.own } / Double(near.count)
  }

  /// Moves the nodes of each layer as near to where they wish to be as their order and sizes allow, by least squares: nodes
  /// that would overlap move as one block.
  private mutating func settle(leftward: Bool) {
    for layer in leftward ? Array(layers.indices) : layers.indices.reversed() {
      var blocks: [(sum: Double, count: Double, nodes: Int)] = []
      var offsets: [Double] = []
      var offset = 0.0
      for node in layers[layer] {
        offsets.append(offset)
        blocks.append(((wish(node, leftward: leftward) ?? nodes[node].y) - offset, 1, 1))
        offset += nodes[node].size.height + (nodes[node].box == nil ? 12 : Self.gap)
        while blocks.count > 1, case let last = blocks[blocks.count - 1], case let other = blocks[blocks.count - 2],
          other.sum / other.count >= last.sum / last.count
        {
          blocks.removeLast()
          blocks[blocks.count - 1] = (other.sum + last.sum, other.count + last.count, other.nodes + last.nodes)
        }
      }
      var next = 0
      for block in blocks {
        for _ in 0..<block.nodes {
          nodes[layers[layer][next]].y = block.sum / block.count + offsets[next]
          next += 1
        }
      }
    }
  }

  // MARK: Places

  private mutating func place(_ edges: [Edge]) {
    let top = nodes.map(\.y).min() ?? 0
    var starts: [(x: Double, width: Double)] = []
    var labels: [Int: Double] = [:]
    for (edge, chain) in chains { labels[nodes[chain[0]].layer, default: 0].formMax(edges[edge].label) }
    var x = 0.0
    for (place, layer) in layers.enumerated() {
      let width = layer.map { nodes[$0].size.width }.max() ?? 0
      starts.append((x, width))
      let lines = layer.reduce(0) { $0 + nodes[$1].right.count }
      x += width + max(min(150, 80 + 3 * Double(lines)), labels[place, default: 0])
    }
    for node in nodes {
      size.height = max(size.height, node.y - top + node.size.height)
      guard let box = node.box else { continue }
      corners[box] = Point(x: starts[node.layer].x, y: node.y - top)
      size.width = max(size.width, starts[node.layer].x + node.size.width)
    }
    for (edge, chain) in chains {
      guard let first = chain.first, let last = chain.last else { continue }
      var way = [
        Point(
          x: starts[nodes[first].layer].x + nodes[first].size.width, y: nodes[first].y - top + edges[edge].leftPort)
      ]
      for node in chain.dropFirst().dropLast() {
        let (start, y) = (starts[nodes[node].layer], nodes[node].y - top + 5)
        way += [Point(x: start.x, y: y), Point(x: start.x + start.width, y: y)]
      }
      way.append(Point(x: starts[nodes[last].layer].x, y: nodes[last].y - top + edges[edge].rightPort))
      ways[edge] = way
    }
  }
}

extension Double {
  fileprivate mutating func formMax(_ other: Double) { self = Swift.max(self, other) }
}

/// To-many relationships with a stored order: a number on the other side is the object's position.
///
///     @Relationship(inverse: \Chapter.book, order: \Chapter.place) var chapters: [Chapter] = []
///
/// A moved object gets a number between those of its neighbors, so a move writes one row. If no number is left between
/// two, after some fifty moves to the same place, all are renumbered.
extension RelationshipLoader {
  /// Sorts objects by their numbers, then by key. Reads the numbers through the properties, so observers that track the
  /// list are notified of moves.
  func ordered(_ targets: [AnyObject], by order: Int, _ target: Entity) -> [AnyObject] {
    func numbers<Target: PersistentModel>(_: Target.Type) -> [Double] {
      self.places(of: targets.compactMap { $0 as? Target }, order, target)
    }
    let places = numbers(target.type)
    if zip(places, places.dropFirst()).allSatisfy({ $0 <= $1 }) { return targets }
    return places.indices.sorted { a, b in places[a] == places[b] ? a < b : places[a] < places[b] }.map { targets[$0] }
  }

  private func places<Target: PersistentModel>(of targets: [Target], _ order: Int, _ target: Entity) -> [Double] {
    guard let keyPath = target.properties[order].keyPath as? KeyPath<Target, Double> else {
      return targets.map { _ in 0 }
    }
    return targets.map { $0[keyPath: keyPath] }
  }

  /// Numbers the objects of a list so that they have the given order.
  ///
  /// - Parameter new: Objects that were just added to the list, whose old numbers mean nothing.
  func arrange<Target: PersistentModel>(
    _ targets: [Target], new: [any PersistentModel], by order: Int, _ target: Entity
  ) {
    let former = places(of: targets, order, target)
    var places = former
    let arrived = Set(new.map(ObjectIdentifier.init))
    let staying = longestRising(
      places, among: targets.indices.filter { !arrived.contains(ObjectIdentifier(targets[$0])) })
    var start = 0
    for end in staying + [targets.count] {
      let run = start..<end
      if !run.isEmpty {
        let low = start > 0 ? places[start - 1] : nil
        let high = end < targets.count ? places[end] : nil
        for (offset, index) in run.enumerated() {
          let share = Double(offset + 1) / Double(run.count + 1)
          places[index] =
            switch (low, high) {
            case (let low?, let high?): low + (high - low) * share
            case (let low?, nil): low + Double(offset + 1)
            case (nil, let high?): high - Double(run.count - offset)
            case (nil, nil): Double(offset + 1)
            }
        }
      }
      start = end + 1
    }
    if !zip(places, places.dropFirst()).allSatisfy({ $0 < $1 && $1.isFinite }) {
      places = targets.indices.map { Double($0 + 1) }
    }
    guard let keyPath = target.properties[order].keyPath as? ReferenceWritableKeyPath<Target, Double> else { return }
    for (index, place) in places.enumerated() where former[index] != place { targets[index][keyPath: keyPath] = place }
  }

  /// A longest subsequence of these positions with increasing numbers: these objects keep their numbers.
  private func longestRising(_ numbers: [Double], among positions: [Int]) -> [Int] {
    if zip(positions, positions.dropFirst()).allSatisfy({ numbers[$0] < numbers[$1] }) { return positions }
    var ends: [Int] = []  // by length, the position with the lowest last number
    var before: [Int: Int] = [:]
    for position in positions {
      var low = 0
      var high = ends.count
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < numbers[position] { low = middle + 1 } else { high = middle }
      }
      if low > 0 { before[position] = ends[low - 1] }
      if low == ends.count { ends.append(position) } else { ends[low] = position }
    }
    var result: [Int] = []
    var next = ends.last
    while let position = next {
      result.append(position)
      next = before[position]
    }
    return result.reversed()
  }
}

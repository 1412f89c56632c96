import Testing

@testable import QuireRow

/// The extreme of values that come and go, against the sorted values.
@Suite struct ExtremesTests {
  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `the extreme is that of the values that are left, and is asked for only where it must be`(seed: UInt64) {
    var random = SeededGenerator(seed)
    let isLeast = seed % 2 == 0
    var values: [SQLValue] = []
    var extremes = Extremes(isLeast: isLeast)
    // The most extreme value first.
    func sorted() -> [SQLValue] { values.sorted { isLeast ? $0.compare(to: $1) < 0 : $0.compare(to: $1) > 0 } }
    func value() -> SQLValue {
      let number = Int64.random(in: 0...(seed % 3 == 0 ? 20 : 4000), using: &random)
      return switch Int.random(in: 0..<8, using: &random) {
      case 0: .real(Double(number))
      case 1: .text("\(number)")
      default: .integer(number)
      }
    }
    for step in 0..<1500 {
      // First it grows, then the extreme ones go more often than others.
      if values.isEmpty || Int.random(in: 0..<10, using: &random) < (step < (seed % 4 < 2 ? 400 : 60) ? 7 : 4) {
        values.append(value())
        extremes.add(values[values.count - 1], isOnly: values.count == 1)
      } else {
        let all = sorted()
        let removed = Bool.random(using: &random) ? all[0] : all.randomElement(using: &random) ?? all[0]
        if let place = values.firstIndex(of: removed) { values.remove(at: place) }
        extremes.remove(removed, wasOnly: values.isEmpty)
      }
      if extremes.isNeeded, Bool.random(using: &random) { extremes.set(Array(sorted().prefix(extremes.wanted))) }
      let expected = sorted().first ?? .null
      // While it is not known, nothing exceeds the bound.
      let order = extremes.value.compare(to: expected)
      let isRight = extremes.isNeeded ? (isLeast ? order <= 0 : order >= 0) : order == 0
      #expect(isRight, "seed \(seed), step \(step): \(extremes.value) for \(expected)")
      if !isRight { return }
    }
  }

  @Test(arguments: [true, false]) func `a queue whose first value goes each time asks a few times`(isLeast: Bool) {
    var values = (0..<6400).map { SQLValue.integer($0) }
    if !isLeast { values.reverse() }
    var extremes = Extremes(isLeast: isLeast)
    for (place, value) in values.enumerated() { extremes.add(value, isOnly: place == 0) }
    var asked = 0
    for (place, value) in values.enumerated() {
      #expect(extremes.value == value)
      extremes.remove(value, wasOnly: place == values.count - 1)
      guard extremes.isNeeded else { continue }
      asked += 1
      extremes.set(Array(values[(place + 1)...].prefix(extremes.wanted)))
    }
    #expect(asked <= 6400 / 64 + 7 && extremes.value == .null, "\(asked)")
  }

  @Test func `of many values some are kept, and a later one behind them does not come before the others`() {
    var extremes = Extremes(isLeast: false)
    extremes.add(1, isOnly: true)
    extremes.add(0, isOnly: false)
    extremes.remove(1, wasOnly: false)
    extremes.set([0])
    extremes.remove(0, wasOnly: true)
    // From now on the values behind the extreme one are kept.
    for number in 1...300 { extremes.add(.integer(Int64(number)), isOnly: number == 1) }
    extremes.add(0, isOnly: false)
    var left = (0...300).map { SQLValue.integer($0) }
    var asked = 0
    while let last = left.popLast() {
      #expect(extremes.value == last)
      extremes.remove(last, wasOnly: left.isEmpty)
      guard extremes.isNeeded else { continue }
      asked += 1
      extremes.set(Array(left.reversed().prefix(extremes.wanted)))
    }
    #expect((1...8).contains(asked), "\(asked)")
  }

  /// 1 and 1.0 compare equal in a column without a type.
  @Test func `of values that compare equal, the one that went goes`() {
    var extremes = Extremes(isLeast: true)
    extremes.add(.integer(1), isOnly: true)
    extremes.add(.real(2), isOnly: false)
    extremes.remove(.integer(1), wasOnly: false)
    extremes.set([.real(2)])
    extremes.add(.integer(1), isOnly: false)
    extremes.add(.real(1), isOnly: false)
    extremes.remove(.real(1), wasOnly: false)
    #expect(extremes.value == .integer(1))
    extremes.remove(.integer(1), wasOnly: false)
    #expect(extremes.value == .real(2) && !extremes.isNeeded)
  }
}

/// How a hand-written variant of a live case comes by the new result, and so what of a write it is timed for.
enum Following {
  /// The write alone: nobody is told.
  case notAtAll
  /// The whole query run again after the write, by raw statements: what is done where changes are known by table only.
  case byRunningAgain
  /// The change taken from the preupdate hook into a result in memory: the least there is to do.
  case byDelta

  /// Every how many writes one is timed: running again costs as much every time, and on a large table seconds.
  func stride(rows: Int) -> Int {
    self == .byRunningAgain ? max(50, rows / 2_000) : 1
  }
}

extension Meter {
  /// Times one write as `following` says. Its delta is taken in whether that is timed or not, because the next write
  /// may depend on the result.
  ///
  /// - Parameters:
  ///   - isDue: Whether this one is timed, where running again is.
  ///   - deliver: Gives whether the observer was told of anything.
  @inline(__always) mutating func sample(
    _ following: Following, isDue: Bool, write: () throws -> Void, again: () throws -> Void, deliver: () throws -> Bool
  ) rethrows {
    switch following {
    case .byDelta:
      let isTold = try sample {
        try write()
        return try deliver()
      }
      wake(isTold ? 1 : 0)
      return
    case .byRunningAgain where isDue:
      try sample {
        try write()
        try again()
      }
      wake(1)
    case .byRunningAgain: try write()
    case .notAtAll: try sample(write)
    }
    _ = try deliver()
  }
}

/// What the observing cases ask of readers, and of how many at once.
struct ObservingPlan {
  enum Question { case reader, property, wake }

  /// Properties that a reader of `observe-property` reads.
  static let properties = 4
  /// At most: of fewer readers at a time there are as many batches.
  private static let most = 10_000
  /// Wakes of a round, at least.
  private static let wakes = 2_000

  let question: Question
  let batches: Int
  /// Readers at a time, each of an object of its own.
  let readers: Int

  init(_ question: Question, _ readers: Int, rows: Int) {
    self.question = question
    self.readers = min(readers, rows)
    batches = question == .wake ? max(1, Self.wakes / self.readers) : max(1, min(Self.most, rows) / self.readers)
  }

  /// How many objects a round takes: new ones for new readers, because the first reader of an object pays for what all
  /// others use.
  var objects: Int { question == .wake ? readers : batches * readers }

  /// A year no object has.
  func year(round: Int, batch: Int) -> Int { 3_000 + round * batches + batch }
}

/// What readers have read, and how often.
@MainActor final class Seen {
  private(set) var sum = 0
  private(set) var readings = 0
  private var awaited: (readings: Int, continuation: CheckedContinuation<Void, Never>)?

  func add(_ value: Int) {
    sum += value
    readings += 1
    guard let awaited, readings >= awaited.readings else { return }
    self.awaited = nil
    awaited.continuation.resume()
  }

  func clear() { (sum, readings) = (0, 0) }

  /// Returns when there have been so many readings.
  func reached(_ readings: Int) async {
    if self.readings < readings { await withCheckedContinuation { awaited = (readings, $0) } }
  }
}

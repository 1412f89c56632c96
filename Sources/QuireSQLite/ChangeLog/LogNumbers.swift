/// The numbers that other processes' commits were given here, by their last position in the log: later readers of the
/// log find the commits under the same numbers.
///
/// Stored as runs in which positions and numbers increase evenly, as they do for one writer, or for two that alternate.
struct LogNumbers {
  private struct Run {
    let place, number: Int64
    /// From one to the next; 0 while there is one alone.
    var placeStep: Int64 = 0
    var numberStep: Int64 = 0
    var count: Int64 = 1

    var last: (place: Int64, number: Int64) {
      (place + (count - 1) * placeStep, number + (count - 1) * numberStep)
    }
  }
  private var runs: [Run] = []

  /// How many runs there are: what tests count.
  var count: Int { runs.count }

  /// - Parameter place: The last change of the commit, after those of all that were added before.
  mutating func add(_ number: Int64, at place: Int64) {
    guard var run = runs.last else { return runs.append(Run(place: place, number: number)) }
    let (lastPlace, lastNumber) = run.last
    if place <= lastPlace { return }  // a comparison, which has no place of its own
    if run.count == 1 { (run.placeStep, run.numberStep) = (place - lastPlace, number - lastNumber) }
    if place - lastPlace == run.placeStep, number - lastNumber == run.numberStep {
      run.count += 1
      runs[runs.count - 1] = run
    } else {
      runs.append(Run(place: place, number: number))
    }
  }

  /// The number of the commit at a position; nil if no commit has been numbered that far.
  func number(at place: Int64) -> Int64? {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].last.place < place { low = middle + 1 } else { high = middle }
    }
    guard low < runs.count else { return nil }
    let run = runs[low]
    if place <= run.place { return run.number }
    // Of several reported together, only the last one's position is known.
    let steps = (place - run.place + run.placeStep - 1) / run.placeStep
    return run.number + steps * run.numberStep
  }
}

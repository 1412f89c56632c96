import Observation

/// The observing cases as one would write them with the standard library alone: `withObservationTracking`, armed again
/// in a task of its own by whoever changes something.
@MainActor final class PlainObserving: Variant {
  private let plan: ObservingPlan
  private let rows: [BookRow]
  private var books: [PlainBook] = []
  private let seen = Seen()

  init(_ stage: Stage, _ question: ObservingPlan.Question, _ readers: Int) {
    plan = ObservingPlan(question, readers, rows: stage.rows)
    var workload = Workload()
    rows = workload.books(plan.objects)
  }

  func round(_ number: Int, _ meter: inout Meter) async -> Checksum {
    seen.clear()
    books = rows.map(PlainBook.init)
    switch plan.question {
    case .reader:
      for batch in 0..<plan.batches {
        let own = batch * plan.readers..<(batch + 1) * plan.readers
        meter.measure(plan.readers) { for place in own { readYear(of: place) } }
      }
    case .property:
      for batch in 0..<plan.batches {
        let own = batch * plan.readers..<(batch + 1) * plan.readers
        meter.measure(plan.readers * ObservingPlan.properties) { for place in own { readAll(of: place) } }
      }
    case .wake:
      for place in books.indices { readYear(of: place) }
      for batch in 0..<plan.batches {
        let year = plan.year(round: number, batch: batch)
        let readings = seen.readings + plan.readers
        await meter.measureUntilQuiet(plan.readers) {
          for book in books { book.year = year }
        } settled: {
          await seen.reached(readings)
        }
      }
    }
    var checksum = Checksum()
    checksum.add(Int64(seen.sum))
    return checksum
  }

  private func readYear(of place: Int) {
    withObservationTracking {
      seen.add(books[place].year)
    } onChange: {
      Task { @MainActor in self.readYear(of: place) }
    }
  }

  private func readAll(of place: Int) {
    withObservationTracking {
      let book = books[place]
      seen.add(book.title.utf8.count + book.year + Int(book.rating) + (book.isAvailable ? 1 : 0))
    } onChange: {
      Task { @MainActor in self.readAll(of: place) }
    }
  }
}

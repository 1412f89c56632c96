import Quire

/// The observing cases: as ``PlainObserving``, of objects in a context, with `observe`.
///
/// What was edited is thrown away after each round: saving is what other cases are about.
@MainActor final class QuireObserving: Variant {
  private let plan: ObservingPlan
  private let container: ModelContainer
  private let seen = Seen()

  init(_ stage: Stage, _ question: ObservingPlan.Question, _ readers: Int) throws {
    plan = ObservingPlan(question, readers, rows: stage.rows)
    container = try openContainer(try stage.file())
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    seen.clear()
    let context = ModelContext(container)
    let books = try context.books(plan.objects)
    var tokens: [ObservationToken] = []
    tokens.reserveCapacity(books.count)
    switch plan.question {
    case .reader:
      for batch in 0..<plan.batches {
        let own = books[batch * plan.readers..<(batch + 1) * plan.readers]
        meter.measure(plan.readers) { for book in own { tokens.append(readYear(of: book)) } }
      }
    case .property:
      for batch in 0..<plan.batches {
        let own = books[batch * plan.readers..<(batch + 1) * plan.readers]
        meter.measure(plan.readers * ObservingPlan.properties) { for book in own { tokens.append(readAll(of: book)) } }
      }
    case .wake:
      for book in books { tokens.append(readYear(of: book)) }
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
    tokens.removeAll()
    context.rollback()
    var checksum = Checksum()
    checksum.add(Int64(seen.sum))
    return checksum
  }

  private func readYear(of book: Book) -> ObservationToken {
    observe { [seen] in seen.add(book.year) }
  }

  private func readAll(of book: Book) -> ObservationToken {
    observe { [seen] in
      seen.add(book.title.utf8.count + book.year + Int(book.rating) + (book.isAvailable ? 1 : 0))
    }
  }

  func close() throws { try container.close() }
}

/// `property-get`: the year of objects that nobody tracks. There are few of them, so that the processor's cache has them.
@MainActor final class PlainGet: Variant {
  static let objects = 1_000
  static let passes = 1_000

  private let books: [PlainBook]

  init(_ stage: Stage) {
    var workload = Workload()
    books = workload.books(Self.objects).map(PlainBook.init)
  }

  func round(_ number: Int, _ meter: inout Meter) -> Checksum {
    let sum = meter.measure(Self.objects * Self.passes) {
      var sum = 0
      for _ in 0..<Self.passes {
        for book in books { sum &+= book.year }
      }
      return sum
    }
    var checksum = Checksum()
    checksum.add(Int64(sum))
    return checksum
  }
}

/// `property-set`: the first new year of objects that are clean and that nobody tracks.
///
/// Between passes Quire saves, outside the figure; there is nothing to do for plain objects.
@MainActor final class PlainSet: Variant {
  static let objects = 1_000
  static let passes = 100

  private let books: [PlainBook]

  init(_ stage: Stage) {
    var workload = Workload()
    books = workload.books(Self.objects).map(PlainBook.init)
  }

  /// A year no object has.
  static func year(round: Int, pass: Int) -> Int { 3_000 + round * passes + pass }

  func round(_ number: Int, _ meter: inout Meter) -> Checksum {
    for pass in 0..<Self.passes {
      let year = Self.year(round: number, pass: pass)
      meter.measure(Self.objects) {
        for book in books { book.year = year }
      }
    }
    var checksum = Checksum()
    for book in books { checksum.add(Int64(book.year)) }
    return checksum
  }
}

/// `object-memory`: what malloc has handed out for live objects with short titles, the array that holds them aside.
@MainActor final class PlainMemory: Variant {
  private let rows: [BookRow]

  init(_ stage: Stage) {
    rows = Self.rows(stage.rows)
  }

  /// Books whose titles fit into a `String` itself.
  static func rows(_ count: Int) -> [BookRow] {
    var workload = Workload()
    return workload.books(count).map { row in
      var row = row
      row.title = String(row.title.prefix(12))
      return row
    }
  }

  func round(_ number: Int, _ meter: inout Meter) -> Checksum {
    var books: [PlainBook] = []
    books.reserveCapacity(rows.count)
    let before = memoryInUse()
    for row in rows { books.append(PlainBook(row)) }
    meter.count(memoryInUse() - before, over: rows.count)
    var checksum = Checksum()
    for book in books {
      checksum.add(
        id: book.id, title: book.title, authorID: book.authorID, year: book.year, rating: book.rating,
        isAvailable: book.isAvailable)
    }
    return checksum
  }
}

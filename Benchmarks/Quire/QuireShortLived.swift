import Quire

/// `context-each`: a context made, asked for one row by its key, and let go, as a server's requests do.
@MainActor final class QuireContextEach: Variant {
  private let container: ModelContainer
  private let keys: ArraySlice<Int64>

  init(_ stage: Stage) throws {
    container = try openContainer(try stage.file())
    keys = Workload.shuffledKeys(stage.rows).prefix(RawFind.most)
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    var checksum = Checksum()
    try meter.measure(keys.count) {
      for key in keys {
        let context = ModelContext(container, isolation: nil)
        guard let book = try context.get(Book.self, key: key) else { continue }
        checksum.add(key)
        checksum.add(book.rating.bitPattern)
        checksum.add(UInt64(book.title.utf8.count))
      }
    }
    return checksum
  }

  func close() throws { try container.close() }
}

/// `open-memory`: a store in memory of six models opened, and closed again, as for a test.
@MainActor final class QuireOpenMemory: Variant {
  static let count = 50

  init(_ stage: Stage) {}

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    try meter.measure(Self.count) {
      for _ in 0..<Self.count {
        let store = try ModelContainer(
          for: Author.self, Book.self, DeskBook.self, DeskAuthor.self, DeskMember.self, DeskLoan.self,
          configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        try store.close()
      }
    }
    return Checksum()
  }
}

/// What came of a round, in 64 bits: equal where variants did the same work, so that nobody measures nothing.
///
/// Depends on the order in which values are added. Not for anything but telling results apart.
struct Checksum: Equatable, Sendable {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  @inline(__always) mutating func add(_ word: UInt64) {
    let (high, low) = (value ^ word).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
    value = high ^ low ^ 0x1000_0000_01b3
  }

  @inline(__always) mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }

  mutating func add(_ text: String) {
    for byte in text.utf8 { add(UInt64(byte)) }
    add(UInt64(text.utf8.count))
  }

  mutating func add(id: Int64, title: String, authorID: Int64, year: Int, rating: Double, isAvailable: Bool) {
    add(id)
    add(title)
    add(authorID)
    add(Int64(year))
    add(rating.bitPattern)
    add(UInt64(isAvailable ? 1 : 0))
  }

  mutating func add(_ row: BookRow) {
    add(
      id: row.id, title: row.title, authorID: row.authorID, year: row.year, rating: row.rating,
      isAvailable: row.isAvailable)
  }

  init() {}

  init(_ rows: some Sequence<BookRow>) {
    for row in rows { add(row) }
  }

  /// The books in a file as anybody else would see them: read on a connection of its own.
  init(booksIn file: String) throws {
    let database = try RawDatabase(file, .sqlite)
    defer { database.close() }
    let all = try database.prepare("SELECT id, title, author_id, year, rating, is_available FROM book ORDER BY id")
    defer { all.finalize() }
    while try all.step() { add(all.book) }
  }
}

import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShared

struct EntryTests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ])
  func `the hash is that of the published examples`(text: String, expected: String) {
    let hash = SHA256.hash(Array(text.utf8)).map { String(format: "%02x", $0) }.joined()
    #expect(hash == expected)
  }

  @Test func `the hash of a million letters is the published one, also in parts`() {
    let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
    let hash = SHA256.hash(Array(bytes[..<333]), Array(bytes[333...])).map { String(format: "%02x", $0) }.joined()
    #expect(hash == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test func `a chain names everything before it`() {
    let one = Chain.start.after([1]).after([2])
    #expect(one == Chain.start.after([1]).after([2]))
    #expect(one != Chain.start.after([1, 2]) && one != Chain.start.after([2]).after([1]))
    #expect(Chain(one.bytes) == one && Chain([1, 2, 3]) == nil)
  }

  @Test(arguments: Array(1...40) + [extraSeed]) func `an entry is read as it was written`(seed: UInt64) throws {
    var random = Random(seed: seed)
    for _ in 0..<50 {
      let entry = random.entry()
      let bytes = entry.bytes
      #expect(try Entry(bytes) == entry, "seed \(seed)")
      for transaction in entry.transactions {
        let rows = try RowEvents(transaction.rows)
        #expect(rows.bytes == transaction.rows, "seed \(seed)")
      }
    }
  }

  @Test(arguments: Array(1...40) + [extraSeed])
  func `bytes that are changed or cut off are refused or are another entry`(
    seed: UInt64
  ) throws {
    var random = Random(seed: seed)
    for _ in 0..<200 {
      let entry = random.entry()
      var bytes = entry.bytes
      switch random.below(3) {
      case 0: bytes.removeLast(1 + random.below(bytes.count))
      case 1:
        for _ in 0...random.below(4) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
      default: bytes = (0..<random.below(200)).map { _ in UInt8(random.below(256)) }
      }
      guard let read = try? Entry(bytes) else { continue }
      #expect(read.bytes == bytes, "seed \(seed)")
      for transaction in read.transactions {
        guard let rows = try? RowEvents(transaction.rows) else { continue }
        #expect(rows.bytes == transaction.rows, "seed \(seed)")
      }
    }
  }

  @Test func `what cannot be read is said`() {
    #expect(throws: EntryError.otherFormat(2)) { try Entry([0x20]) }
    #expect(throws: EntryError.unknownKind(15)) { try Entry([0x1f]) }
    #expect(throws: EntryError.malformed(MalformedBytes(what: "there are none", place: 0))) { try Entry([]) }
    #expect(throws: EntryError.self) { try Entry([0x10, 1, 2, 3]) }
    #expect("\(EntryError.otherFormat(2))" == "the entry has the format 2, and this program reads 1")
    // A count that would need more memory than there is.
    #expect(throws: MalformedBytes.self) { try RowEvents([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]) }
    #expect(throws: MalformedBytes.self) { try RowEvents([1, 1, 0x61, 1, 0, 0x80, 0x00]) }
  }

  @Test func `one property set takes few bytes`() {
    let rows = RowEvents(
      tables: [RowEvents.Table(name: "book", columnCount: 6, keyCount: 0)],
      events: [
        RowEvents.Event(
          table: 0, .update(.integer(1000), newRowID: nil, columns: [RowEvents.Column(place: 3, value: 7)]))
      ])
    let entry = Entry(
      after: .start, node: "attic",
      [Entry.Transaction(id: UUID(), time: 1_790_000_000_000, author: nil, rows: rows.bytes)])
    #expect(rows.bytes.count <= 15 && entry.bytes.count <= 66)
  }
}

extension Random {
  mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(below(256)) } }

  mutating func value() -> SQLValue {
    switch below(8) {
    case 0: .null
    case 1: .integer(Int64(bitPattern: next()) >> Int64(below(64)))
    case 2: .real(pick([0, -0.0, 1.5, .infinity, .leastNonzeroMagnitude, Double(bitPattern: next() & ~(1 << 62))]))
    case 3: .text(String((0..<below(20)).map { _ in pick(Array("aé🦉\0 '")) }))
    case 4: .blob(Data(bytes(below(300))))
    case 5: .malformedText(Data([0xff] + bytes(below(5))))
    default: .integer(Int64(below(100)))
    }
  }

  mutating func rows() -> RowEvents {
    let tables = (0...below(3)).map { number in
      RowEvents.Table(name: "tåble \(number)", columnCount: 1 + below(5), keyCount: below(3))
    }
    let events = (0..<below(8)).map { _ in
      let number = below(tables.count)
      let table = tables[number]
      func key(_ random: inout Random) -> RowKey {
        table.keyCount == 0
          ? .integer(Int64(bitPattern: random.next()))
          : .composite((0..<table.keyCount).map { _ in random.value() })
      }
      switch below(3) {
      case 0:
        return RowEvents.Event(
          table: number,
          .insert(
            rowID: table.keyCount == 0 ? Int64(below(1000)) : nil,
            values: (0..<table.columnCount).map { _ in value() }))
      case 1:
        let columns = (0..<table.columnCount).filter { _ in chance(2) }
          .map { RowEvents.Column(place: $0, value: value()) }
        let moves = table.keyCount == 0 && chance(3)
        if columns.isEmpty, !moves { return RowEvents.Event(table: number, .delete(key(&self))) }
        return RowEvents.Event(table: number, .update(key(&self), newRowID: moves ? -5 : nil, columns: columns))
      default: return RowEvents.Event(table: number, .delete(key(&self)))
      }
    }
    return RowEvents(tables: tables, events: events)
  }

  mutating func entry() -> Entry {
    Entry(
      after: Chain.start.after(bytes(3)), node: pick(["attic", "", "cellar 🕯"]),
      (0...below(4)).map { _ in
        Entry.Transaction(
          id: UUID(), time: Int64(bitPattern: next()), author: pick([nil, "", "Ada", "Å"]), rows: rows().bytes)
      })
  }
}

internal import Foundation
internal import QuireRow

/// Where a log ends: its last change, and which commit that belongs to.
///
/// The log of a copy that was put back goes on from an earlier change, with other commits under the same places. A token
/// also says whose commit it comes from, and is refused if the log has another one there.
struct LogEnd: Hashable {
  /// The last logged change; 0 for an empty log.
  let place: Int64
  /// The record that closes it, as a number; nil if another program has logged it, and if the record was trimmed.
  let commit: Int64?

  func token(in log: UUID) -> CommitToken { CommitToken(log: log, place: place, commit: commit) }
}

extension LogEnd {
  /// The end of a file's log.
  init(of connection: Connection) throws {
    let last = try connection.query("SELECT max(seq) FROM _quire_changes").first
    if case .integer(let place)? = last {
      try self.init(at: place, on: connection)
    } else {
      self.init(place: 0, commit: nil)
    }
  }

  /// A place with the record that closes it.
  init(at place: Int64, on connection: Connection) throws {
    let record = try connection.query(
      "SELECT process, number FROM _quire_commits WHERE seq = ?", [.integer(place)]
    ).rows.first
    if let record, case .text(let process) = record[0], case .integer(let number) = record[1] {
      self.init(place: place, commit: LogEnd.commit(number, by: process))
    } else {
      self.init(place: place, commit: nil)
    }
  }

  /// A commit's record as a number of 53 bits, which every program that passes a token on keeps whole.
  ///
  /// - Parameters:
  ///   - number: Counted by the store that has committed it.
  ///   - process: What no other store has, not even one of the same process.
  static func commit(_ number: Int64, by process: String) -> Int64 {
    var hash = ByteHash()
    hash.add(process.utf8)
    withUnsafeBytes(of: number.littleEndian) { hash.add($0) }
    return Int64(hash.value >> 11)
  }
}

/// What stands at a position of a log, and everything before it, as 32 bytes: two logs with the same chain at a position
/// have the same entries up to it.
package struct Chain: Hashable, Sendable {
  /// 32 bytes.
  package let bytes: [UInt8]

  /// Before the first entry.
  package static let start = Chain(known: [UInt8](repeating: 0, count: 32))

  private init(known bytes: [UInt8]) { self.bytes = bytes }

  /// Nil unless there are 32 bytes.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// The chain after an entry: the hash of this one and the entry's bytes.
  package func after(_ entry: [UInt8]) -> Chain { Chain(known: SHA256.hash(bytes, entry)) }

  /// What an entry repeats of the chain before it.
  package var mark: [UInt8] { Array(bytes.prefix(Chain.markLength)) }
  static let markLength = 16
}

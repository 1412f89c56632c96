/// The write locks of the files that this process has open: several stores may have the same file.
///
/// The file's own lock is one store's against all others. A thread that writes through one store and begins a write
/// through another of the same file would wait for a lock that only it can give back.
enum OpenWriteLocks {
  private struct Entry: Sendable {
    let lock: WriteLock
    let file: FileIdentity
    let endKept: @Sendable () -> Void
  }

  private static let all = Locked<[Entry]>([])

  /// - Parameter endKept: Ends the transaction that the calling thread has kept for a write that is to be made again.
  static func add(_ lock: WriteLock, of file: FileIdentity, endKept: @escaping @Sendable () -> Void) {
    all.withLock { $0.append(Entry(lock: lock, file: file, endKept: endKept)) }
  }

  static func remove(_ lock: WriteLock) { all.withLock { $0.removeAll { $0.lock === lock } } }

  /// Whether the calling thread writes, through another store, to the file whose lock this is. If it has only kept a transaction
  /// there, that is ended.
  static func isMine(besides lock: WriteLock) -> Bool {
    let others = entries(besides: lock)
    for other in others { other.endKept() }
    return others.contains(where: \.lock.isMine)
  }

  /// Whether other stores of this process have the file whose lock this is.
  static func areOthers(besides lock: WriteLock) -> Bool { !entries(besides: lock).isEmpty }

  private static func entries(besides lock: WriteLock) -> [Entry] {
    all.withLock { all in
      guard let file = all.first(where: { $0.lock === lock })?.file else { return [] }
      return all.filter { $0.lock !== lock && $0.file.isSameFile(as: file) }
    }
  }
}

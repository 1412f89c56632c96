/// The write locks of the files that this process has open: several stores may have the same file.
///
/// The file's own lock is one store's against all others. A thread that writes through one store and begins a write
/// through another of the same file would wait for a lock that only it can give back.
enum OpenWriteLocks {
  private static let all = Locked<[(lock: WriteLock, file: FileIdentity)]>([])

  static func add(_ lock: WriteLock, of file: FileIdentity) { all.withLock { $0.append((lock, file)) } }

  static func remove(_ lock: WriteLock) { all.withLock { $0.removeAll { $0.lock === lock } } }

  /// Whether the calling thread writes, through another store, to the file whose lock this is.
  static func isMine(besides lock: WriteLock) -> Bool {
    all.withLock { all in
      guard let file = all.first(where: { $0.lock === lock })?.file else { return false }
      return all.contains { $0.lock !== lock && $0.lock.isMine && $0.file.isSameFile(as: file) }
    }
  }
}

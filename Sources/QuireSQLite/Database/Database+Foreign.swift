internal import QuireRow

/// Commits of other processes: detected, numbered, and reported to subscribers.
extension Database {
  /// Detects what other processes have committed until now, numbers it, and notifies subscribers.
  ///
  /// Costs one read of shared memory if there is nothing new. Does nothing for a temporary database, which no other
  /// process can open.
  package func lookForForeignCommits() { numberForeign() }

  /// From now on, commits that other code of this program makes in the same file are reported as its own SQL.
  package func recognize(_ commits: LocalCommits) {
    numberForeign()
    let seen = clock.count.isBlocking ? try? read { try $0.fileCommitCount() } : clock.count.value
    own.withLock { own in
      if !own.commits.contains(where: { $0 === commits }) { own.commits.append(commits) }
      if own.seen == nil { own.seen = seen }
    }
  }

  /// Where the file keeps a change log, each commit that has a record there gets a number of its own, and what has
  /// none gets one together; without a log everything does.
  func numberForeign() {
    guard clock.isBehind else { return }
    let isNew = order.withLock { place in
      guard clock.isBehind else { return false }
      let (count, sets) = look(&place)
      clock.numberForeign(upTo: count, as: Int64(sets.count)) { first in
        positions.didFollow(first + Int64(sets.count) - 1)
        for (offset, set) in sets.enumerated() {
          let number = first + Int64(offset)
          place.note(number, of: set)
          let token = place.state.map { set.end.token(in: $0.log) }
          subscribers.publish(
            ChangeSet(
              number: number, origin: set.origin, author: set.author, token: token, tables: set.tables,
              rowsUnknown: set.rowsUnknown, altersSchema: true))  // the log tells rows alone
        }
      }
      return true
    }
    if isNew { share(true) }
  }

  /// What the log says of everything up to a count of commits; what cannot be read is a comparison.
  private func look(_ place: inout LogPlace) -> (count: Int64, sets: [LoggedSet]) {
    do {
      let reader = try readers.take(isExempt: true)
      defer { readers.giveBack(reader.endSnapshot() ? reader : nil, isExempt: true) }
      for _ in 0..<100 {
        let count = clock.count.value
        try reader.beginSnapshot()
        // The same count before and after: the snapshot shows the commit it was counted with.
        if let count, clock.count.value == count {
          let sets = try place.follow(reader, process: process, logSchemas)
          return (count, try attributed(sets, reader, count))
        }
        reader.endSnapshot()
      }
    } catch {
      // The file is closed or damaged: the next read reports it.
    }
    place.lose()
    return (clock.count.value ?? CommitCount.unknown, [place.unknown])
  }

  /// The sets with their origins: by the record in the log, or by the file's count. A set with unknown rows that comes
  /// from both occurs twice, once for each.
  private func attributed(_ sets: [LoggedSet], _ reader: Connection, _ count: Int64) throws -> [LoggedSet] {
    try own.withLock { own in
      if own.commits.isEmpty { return sets.map { $0.isOfOtherNode ? $0 : $0.made(by: .otherProcess) } }
      let before = own.seen
      let now = clock.count.isBlocking ? try reader.fileCommitCount() : count
      own.seen = now
      guard sets.count == 1, sets[0].process == nil, let before, let now, now > before else {
        return sets.map { set in
          if set.isOfOtherNode { return set }
          return set.made(by: own.commits.contains { $0.contains(set.process) } ? .sql : .otherProcess)
        }
      }
      let ours = own.commits.reduce(0) { $0 + $1.count(after: before, upTo: now) }
      let others = ours < now - before ? sets.map { $0.made(by: .otherProcess) } : []
      return others + (ours > 0 ? sets.map { $0.made(by: .sql) } : [])
    }
  }

  var isShared: Bool { positions.isShared.load(ordering: .relaxed) }

  /// Whether others have the file open, as far as is known; it is believed for two seconds.
  func share(_ isShared: Bool) {
    if isShared { watcher.withLock { $0 }?.noteOthers() }
    positions.isShared.store(isShared, ordering: .relaxed)
    if isShared { positions.secure() }
  }

  /// The watching thread runs while there are subscribers; it ends itself.
  func watch() {
    guard identity != nil, !isClosed else { return }
    watcher.withLock { watcher in
      if watcher?.keepGoing() == true { return }
      watcher = ForeignWatcher(self)
      if isShared { watcher?.noteOthers() }
    }
  }

  var isWatched: Bool { watcher.withLock { $0?.isRunning ?? false } }

  var hasSubscribers: Bool { !subscribers.isEmpty }

  var isReplaced: Bool { identity?.isGone ?? false }

  /// Whether the path no longer leads to the file that was opened.
  @discardableResult func lookForReplacement() -> Bool {
    guard let identity, identity.isReplaced() else { return false }
    subscribers.fail(.fileReplaced(path: path))
    return true
  }
}

import LocalEtcd

/// Every case and who answers it, in the order they are run.
///
/// A new variant is one line here, and a class that is a `Variant`.
@MainActor let allCases =
  storeCases + [1, 100, 10_000].flatMap { observingCases($0) } + [0, 1, 5].flatMap { writersCases($0) } + serverCases
  + (EtcdCluster.isThere ? sharedCases : [])

@MainActor private let storeCases = [
  BenchCase(
    "insert", "a model made and inserted, all in one save", vs: "raw", goal: 1.3,
    .init("raw") { RawInsert($0, .quire) },
    .init("raw-default") { RawInsert($0, .sqlite) },
    .init("quire") { QuireInsert($0) }
  ),
  BenchCase(
    "insert-each", "a model made, inserted and saved", vs: "raw", goal: 1.2,
    .init("raw") { try RawInsertEach($0, .quire) },
    .init("raw-default") { try RawInsertEach($0, .sqlite) },
    .init("quire") { try QuireInsertEach($0) }
  ),
  BenchCase(
    "fetch", "one row to a live object in an empty identity map", vs: "raw", goal: 2.0,
    .init("raw") { try RawFetch($0, .quire) },
    .init("raw-default") { try RawFetch($0, .sqlite) },
    .init("quire") { try QuireFetch($0) }
  ),
  BenchCase(
    "fetch-values", "one row to a projection row", vs: "raw", goal: 1.2,
    .init("raw") { try RawFetch($0, .quire) },
    .init("raw-default") { try RawFetch($0, .sqlite) },
    .init("quire") { try QuireFetchValues($0) }
  ),
  BenchCase(
    "join", "one projection row of book and author name", vs: "raw", goal: 1.2,
    .init("raw") { try RawJoin($0, .quire) },
    .init("raw-default") { try RawJoin($0, .sqlite) },
    .init("quire") { try QuireJoin($0) }
  ),
  BenchCase(
    "find-cold", "a model by its key, in random order, not in memory", vs: "raw", goal: 1.3,
    .init("raw") { try RawFind($0, .quire) },
    .init("raw-default") { try RawFind($0, .sqlite) },
    .init("quire") { try QuireFind($0, warm: false) }
  ),
  BenchCase(
    "find-warm", "the same, in memory (raw: not in memory)", vs: "raw", goal: 0.1,
    .init("raw") { try RawFind($0, .quire) },
    .init("quire") { try QuireFind($0, warm: true) }
  ),
  BenchCase(
    "update", "one property set, all in one save", vs: "raw", goal: 1.5,
    .init("raw") { try RawUpdate($0, .quire) },
    .init("raw-default") { try RawUpdate($0, .sqlite) },
    .init("quire") { try QuireUpdate($0) }
  ),
  BenchCase(
    "update-each", "one property set and saved", vs: "raw",
    .init("raw") { try RawUpdateEach($0, .quire) },
    .init("raw-default") { try RawUpdateEach($0, .sqlite) },
    .init("quire") { try QuireUpdateEach($0) }
  ),
  BenchCase(
    "window", "filtered, ordered by an indexed column, limit 100, to objects in memory", vs: "raw", goal: 1.1,
    .init("raw") { try RawWindow($0, .quire) },
    .init("raw-default") { try RawWindow($0, .sqlite) },
    .init("quire") { try QuireWindow($0) }
  ),
  BenchCase(
    "live-list", "a one-row write until a live list of 100 shows it", vs: "ideal", goal: 2.0, unit: .latency,
    .init("raw-write") { try IdealLiveList($0, .notAtAll) },
    .init("ideal") { try IdealLiveList($0, .byDelta) },
    .init("rerun") { try IdealLiveList($0, .byRunningAgain) },
    .init("quire") { try await QuireLiveList($0) },
    .init("hop") { try await QuireLiveList($0, hops: true) }
  ),
  BenchCase(
    "live-aggregate", "a one-row write until a live count and average have it", vs: "ideal", goal: 2.0, unit: .latency,
    .init("raw-write") { try IdealAggregate($0, isGrouped: false, .notAtAll) },
    .init("ideal") { try IdealAggregate($0, isGrouped: false, .byDelta) },
    .init("rerun") { try IdealAggregate($0, isGrouped: false, .byRunningAgain) },
    .init("quire") { try await QuireAggregate($0) },
    .init("hop") { try await QuireAggregate($0, hops: true) }
  ),
  BenchCase(
    "live-group", "a one-row write until live groups by year show it", vs: "ideal", goal: 2.0, unit: .latency,
    .init("raw-write") { try IdealAggregate($0, isGrouped: true, .notAtAll) },
    .init("ideal") { try IdealAggregate($0, isGrouped: true, .byDelta) },
    .init("rerun") { try IdealAggregate($0, isGrouped: true, .byRunningAgain) },
    .init("quire") { try await QuireGroup($0) },
    .init("hop") { try await QuireGroup($0, hops: true) }
  ),
  BenchCase(
    "live-join", "a one-row write, at a book or an author, until a live list of 100 with authors' names shows it",
    vs: "ideal", goal: 2.0, unit: .latency,
    .init("raw-write") { try IdealJoin($0, .notAtAll) },
    .init("ideal") { try IdealJoin($0, .byDelta) },
    .init("rerun") { try IdealJoin($0, .byRunningAgain) },
    .init("quire") { try await QuireLiveJoin($0) },
    .init("hop") { try await QuireLiveJoin($0, hops: true) }
  ),
  BenchCase(
    "fan-out", "a one-row write until quiet, 10 000 live queries of a row each, one of this row", vs: "ideal",
    goal: 3.0, unit: .latency,
    .init("ideal") { try IdealFanOut($0) },
    .init("quire") { try QuireFanOut($0, .ofWrittenRows) }
  ),
  BenchCase(
    "fan-out-miss", "the same, none of this row", vs: "alone", goal: 1.2, unit: .latency,
    .init("alone") { try QuireFanOut($0, .nobody) },
    .init("quire") { try QuireFanOut($0, .ofOthers) }
  ),
  BenchCase(
    "watched-import", "a model inserted, up to 100 000 in one save, ten live results watching", vs: "unwatched",
    goal: 2.0,
    .init("unwatched") { QuireImport($0, isWatched: false) },
    .init("quire") { QuireImport($0, isWatched: true) }
  ),
  BenchCase(
    "logged-each", "one property set and saved, the file's change log on", vs: "unlogged", goal: 2.0,
    .init("unlogged") { try QuireUpdateEach($0) },
    .init("quire") { try QuireUpdateEach($0, changeLog: .on()) }
  ),
  BenchCase(
    "logged-insert", "a model made and inserted, all in one save, the file's change log on", vs: "unlogged",
    .init("unlogged") { QuireInsert($0) },
    .init("quire") { QuireInsert($0, changeLog: .on()) }
  ),
  BenchCase(
    "property-get", "a property read, nobody tracking", vs: "plain", goal: 1.0,
    .init("plain") { PlainGet($0) },
    .init("quire") { try QuireGet($0) }
  ),
  BenchCase(
    "property-set", "a property of a clean object set, nobody tracking", vs: "plain", goal: 1.2,
    .init("plain") { PlainSet($0) },
    .init("quire") { try QuireSet($0) }
  ),
  BenchCase(
    "object-memory", "bytes for one live object of six properties", vs: "plain", goal: 1.2, unit: .memory,
    .init("plain") { PlainMemory($0) },
    .init("quire") { try QuireMemory($0) }
  ),
  BenchCase(
    "migrate-status", "a file of migrations compared with what ran, 1 000 of them, as a process", vs: "sqlite3",
    .init("sqlite3") { try MigrateStatusProcess($0, isShell: true) },
    .init("quire") { try MigrateStatusProcess($0, isShell: false) },
    .init("in-process") { try QuireMigrateStatus($0) }
  ),
  BenchCase(
    "migrate-apply", "a migration run on a new database, 1 000 of them, as a process", vs: "sqlite3", goal: 2.0,
    .init("sqlite3") { try MigrateApplyProcess($0, isShell: true) },
    .init("quire") { try MigrateApplyProcess($0, isShell: false) },
    .init("in-process") { try QuireMigrateApply($0) }
  ),
  BenchCase(
    "shell-start", "`quire query` started, asked for one value and ended, as a process", vs: "sqlite3", goal: 2.0,
    .init("sqlite3") { try ShellProcess($0, .sqlite, .once) },
    .init("quire") { try ShellProcess($0, .quire, .once) }
  ),
  BenchCase(
    "shell-prompt", "`quire FILE` started on a terminal, until its first prompt", vs: "sqlite3", goal: 2.0,
    .init("sqlite3") { try ShellProcess($0, .sqlite, .prompt) },
    .init("quire") { try ShellProcess($0, .quire, .prompt) }
  ),
  BenchCase(
    "shell-csv", "all books as CSV, start and end included", vs: "sqlite3", goal: 1.0,
    .init("sqlite3") { try ShellProcess($0, .sqlite, .csv) },
    .init("quire") { try ShellProcess($0, .quire, .csv) }
  ),
  BenchCase(
    "shell-json", "the same as JSON", vs: "sqlite3", goal: 1.0,
    .init("sqlite3") { try ShellProcess($0, .sqlite, .json) },
    .init("quire") { try ShellProcess($0, .quire, .json) }
  ),
]

/// What readers cost, so many at a time, each of an object of its own.
@MainActor private func observingCases(_ readers: Int) -> [BenchCase] {
  let many = readers == 1 ? "one reader" : "\(grouped(readers)) readers"
  return [
    BenchCase(
      "observe-reader-\(readers)", "a reader of one property made, \(many) at a time", vs: "plain",
      .init("plain") { PlainObserving($0, .reader, readers) },
      .init("quire") { try QuireObserving($0, .reader, readers) }
    ),
    BenchCase(
      "observe-property-\(readers)", "a property that a reader reads when it is made, of four; \(many) at a time",
      vs: "plain",
      .init("plain") { PlainObserving($0, .property, readers) },
      .init("quire") { try QuireObserving($0, .property, readers) }
    ),
    BenchCase(
      "observe-wake-\(readers)", "a property set until its reader has run again, \(many) in a turn", vs: "plain",
      .init("plain") { PlainObserving($0, .wake, readers) },
      .init("quire") { try QuireObserving($0, .wake, readers) }
    ),
  ]
}

/// Transactions of clients that all write at once, on a disk whose syncs last so many milliseconds longer.
@MainActor private func writersCases(_ delay: Int) -> [BenchCase] {
  [1, 8, 64, 512].map { clients in
    BenchCase(
      "writers-\(delay)ms-\(clients)",
      "a row read and changed in a transaction of its own, \(clients) at once, syncs \(delay) ms longer", vs: "ideal",
      goal: 2.5, unit: .load,
      .init("ideal") { try IdealWriters($0, clients: clients, syncDelay: delay) },
      .init("quire") { try QuireWriters($0, clients: clients, syncDelay: delay) }
    )
  }
}

/// What a server does with a store.
@MainActor private let serverCases: [BenchCase] = [
  gainCase(64, goal: 1.0 / 15), gainCase(512, goal: 1.0 / 30),
  BenchCase(
    "writers-ticks", "how much later another task goes on, while 64 wait to write and one writes for 4 s", vs: "alone",
    unit: .load,
    .init("alone") { try QuireTicks($0, isWriting: false) },
    .init("quire") { try QuireTicks($0, isWriting: true) }
  ),
  BenchCase(
    "context-each", "a context made, asked for a row by its key, and let go", vs: "raw",
    .init("raw") { try RawFindEach($0) },
    .init("quire") { try QuireContextEach($0) }
  ),
  BenchCase(
    "open-memory", "a store in memory of six models opened and closed", vs: "raw",
    .init("raw") { try RawOpenMemory($0) },
    .init("quire") { QuireOpenMemory($0) }
  ),
  deskCase("desk-10", writes: 100, goal: 1.4), deskCase("desk-80", writes: 800, goal: 1.2),
  deskCase("desk-read", writes: 0),
  deskCase("desk-two-10", writes: 100, isTwo: true), deskCase("desk-two-80", writes: 800, isTwo: true),
]

@MainActor private func gainCase(_ clients: Int, goal: Double) -> BenchCase {
  BenchCase(
    "writers-gain-\(clients)", "a commit's share of the wall clock, \(clients) at once, syncs 1 ms longer", vs: "alone",
    goal: goal,
    .init("alone") { try QuireWriters($0, clients: 1, syncDelay: 1, countsThroughput: true) },
    .init("quire") { try QuireWriters($0, clients: clients, syncDelay: 1, countsThroughput: true) }
  )
}

@MainActor private func deskCase(_ name: String, writes: Int, isTwo: Bool = false, goal: Double? = nil) -> BenchCase {
  BenchCase(
    name,
    "a request of 200 clients of a lending desk\(isTwo ? " in two processes" : ""), \(writes / 10) % of them writes",
    vs: "raw", goal: goal, unit: .load,
    .init("raw") { try RawDesk($0, writes: writes, isTwo: isTwo) },
    .init("quire") { try QuireDesk($0, writes: writes, isTwo: isTwo) }
  )
}

/// A store that several machines have; only where etcd-server is installed.
@MainActor private let sharedCases: [BenchCase] = [
  BenchCase(
    "shared-save",
    "a row saved on one of three machines, the others quiet; beside it on one alone, and until a live list has it",
    vs: "append", goal: 2.5, unit: .load,
    .init("append") { _ in try BareAppends(clients: 1, count: 200) },
    .init("quire") { try QuireSharedSaves($0, machines: 3, clients: 1, count: 200) },
    .init("alone") { try QuireSharedSaves($0, machines: 1, clients: 1, count: 200) },
    .init("live") { try QuireSharedLive($0, count: 200) }
  ),
  BenchCase(
    "shared-64", "a row saved by one of 64 tasks on one machine", vs: "append", unit: .load,
    .init("append") { _ in try BareAppends(clients: 1, count: 200) },
    .init("quire") { try QuireSharedSaves($0, machines: 1, clients: 64, count: 3200) }
  ),
  contentionCase(3), contentionCase(8),
  BenchCase(
    "shared-catch-up", "a commit that a machine has missed, from its start until it has all", vs: "append", unit: .load,
    .init("append") { _ in try BareAppends(clients: 1, count: 200) },
    .init("quire") { try QuireSharedCatchUp($0, count: 6400) }
  ),
  BenchCase(
    "shared-join", "a machine that joins a store of 64 MB, from its snapshot", vs: "append", unit: .load,
    .init("append") { _ in try BareAppends(clients: 1, count: 200) },
    .init("quire") { try QuireSharedJoin($0) }
  ),
]

@MainActor private func contentionCase(_ machines: Int) -> BenchCase {
  BenchCase(
    "shared-\(machines)", "a row saved on each of \(machines) machines at once, without pause", vs: "append",
    unit: .load,
    .init("append") { _ in try BareAppends(clients: machines, count: 240) },
    .init("quire") { try QuireSharedSaves($0, machines: machines, clients: machines, count: 240) }
  )
}

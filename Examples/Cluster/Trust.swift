import Foundation
import LocalEtcd

/// Programs that write without pause while they, and the members of etcd, are killed; then all that was acknowledged is
/// looked for, and the files are compared.
struct Trust {
  private let commits, deaths, leaders, pauses: Int

  init(_ settings: Settings) throws {
    commits = try settings.number("commits", or: 10_000)
    deaths = try settings.number("deaths", or: 200)
    leaders = try settings.number("leaders", or: 5)
    pauses = try settings.number("partitions", or: 2)
  }

  func run() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-trust-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let etcd = try EtcdCluster(3, in: folder)
    try etcd.waitForLeader()
    let programs = Programs(4, in: folder)
    try Bank.open(programs, count: 3, at: etcd.addresses)
    let begun = ContinuousClock.now
    var members = 3
    var (died, led, paused) = (0, 0, 0)
    var kinds: [UnreliableLog.Death: Int] = [:]
    var dying: [UnreliableLog.Death] = Array(repeating: .never, count: 4)
    func start(_ number: Int) throws {
      // Half of them are killed from outside.
      let death = died < deaths && Bool.random() ? UnreliableLog.Death.allCases.randomElement() ?? .never : .never
      dying[number] = death
      try programs.start(
        number, at: etcd.addresses(from: number), pause: 0, dying: death, after: .random(in: 2...40))
    }
    for number in 0..<members { try start(number) }
    var told = ContinuousClock.now
    var last = (done: -1, at: ContinuousClock.now)
    while true {
      Thread.sleep(forTimeInterval: 0.02)
      let done = programs.all.reduce(0) { $0 + $1.acknowledged.count }
      if told.duration(to: .now) > .seconds(5) {
        print("  \(done) commits, \(died) deaths, \(led) leaders killed, \(paused) paused")
        told = .now
      }
      if done > last.done { last = (done, .now) }
      if last.at.duration(to: .now) > .seconds(60) {
        throw Failure("nothing was committed for a minute: \(programs.all.flatMap(\.refused).suffix(3))")
      }
      if done >= commits, died >= deaths, led >= leaders, paused >= pauses { break }
      for number in 0..<members where !programs.isRunning(number) {
        died += 1
        kinds[dying[number], default: 0] += 1
        try start(number)
      }
      let part = Double(done) / Double(commits)
      // From outside, as often as is needed to come to the number asked for.
      if died < deaths, Double(died) < Double(deaths) * part + 2 {
        let number = Int.random(in: 0..<members)
        if dying[number] == .never { programs.kill(number) }
      }
      if led < leaders, part > Double(led + 1) / Double(leaders + 1), let leader = etcd.leader {
        etcd.kill(leader)
        Thread.sleep(forTimeInterval: 0.5)
        try etcd.restart(leader)
        led += 1
      }
      if Double(paused) + 0.5 < part * Double(pauses), let leader = etcd.leader {
        etcd.pause(leader, true)
        Thread.sleep(forTimeInterval: 8)
        etcd.pause(leader, false)
        paused += 1
      }
      if members == 3, part > 0.4 {
        try Bank.join(programs, 3, at: etcd.addresses)
        members = 4
        try start(3)
      }
    }
    for number in 0..<members { programs.end(number) }
    let took = begun.duration(to: .now)
    let outcome = try Bank.compare(programs, count: members, at: etcd.addresses)
    report(programs, outcome, members, took, died: kinds, led: led, paused: paused)
    if !outcome.isWhole { throw Failure("the files are not what they should be") }
  }

  private func report(
    _ programs: Programs, _ outcome: Bank.Outcome, _ members: Int, _ took: Duration, died: [UnreliableLog.Death: Int],
    led: Int, paused: Int
  ) {
    let reports = programs.all
    let acknowledged = reports.flatMap(\.acknowledged)
    let times = reports.flatMap(\.times).sorted()
    let moments = reports.flatMap(\.moments).sorted()
    let gap = zip(moments, moments.dropFirst()).map { $0.duration(to: $1) / .seconds(1) }.max() ?? 0
    func time(_ part: Double) -> String {
      times.isEmpty ? "-" : times[Int(Double(times.count - 1) * part)].formatted(.number.precision(.fractionLength(1)))
    }
    let seconds = took / .seconds(1)
    print(
      """
      \(acknowledged.count) commits acknowledged in \(Int(seconds)) s, \(Int(Double(acknowledged.count) / seconds)) a second; \
      the log has \(outcome.position) entries
      programs killed: \(died[.never, default: 0]) from outside, \(died[.beforeAppend, default: 0]) before the append, \
      \(died[.afterAppend, default: 0]) between append and COMMIT, \(died[.inReplay, default: 0]) while repeating others
      leaders killed: \(led), paused for 8 s: \(paused); longest time without a commit \
      \(gap.formatted(.number.precision(.fractionLength(1)))) s
      a commit: p50 \(time(0.5)) ms, p99 \(time(0.99)) ms, longest \(time(1)) ms; refused \(reports.reduce(0) { $0 + $1.refused.count })
      lost: \(outcome.lost)   twice: \(acknowledged.count - Set(acknowledged).count)   in the log and never acknowledged: \
      \(outcome.unacknowledged)
      \(members) files compared: \(outcome.differences.isEmpty ? "the same, row for row" : outcome.differences.joined(separator: "; ")); \
      money \(outcome.sum) of \(openingBalance * accountNames.count)
      """)
  }
}

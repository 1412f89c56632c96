import Foundation
import LocalEtcd

/// Programs that write without pause while they, and the members of etcd, are killed; then all that was acknowledged is
/// looked for, and the files are compared.
///
/// In a network namespace of its own (`--network 1`) each member and its program are on a machine with a cable, which is
/// pulled; elsewhere the leading member is paused instead.
struct Trust {
  private let commits, deaths, leaders, cuts: Int
  private let hasNetwork: Bool

  init(_ settings: Settings) throws {
    commits = try settings.number("commits", or: 10_000)
    deaths = try settings.number("deaths", or: 200)
    leaders = try settings.number("leaders", or: 5)
    cuts = try settings.number("partitions", or: 2)
    hasNetwork = try settings.number("network", or: 0) == 1
  }

  func run() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-trust-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let network = hasNetwork ? try LocalNetwork(3) : nil
    let etcd = try EtcdCluster(3, in: folder, on: network)
    try etcd.waitForLeader()
    let targets = network?.targets ?? []
    let programs = Programs(4, in: folder) { program, words, number in
      targets.isEmpty ? (program, words) : LocalNetwork.command(program, words, in: targets[number % 3])
    }
    try Bank.open(programs, count: 3, at: etcd.addresses)
    let begun = ContinuousClock.now
    var members = 3
    var (died, led, cut) = (0, 0, 0)
    var blows: [Blow] = []
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
        print("  \(done) commits, \(died) deaths, \(led) leaders killed, \(cut) cut off")
        told = .now
      }
      if done > last.done { last = (done, .now) }
      if last.at.duration(to: .now) > .seconds(60) {
        throw Failure("nothing was committed for a minute: \(programs.all.flatMap(\.refused).suffix(3))")
      }
      if done >= commits, died >= deaths, led >= leaders, cut >= cuts { break }
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
        blows.append(Blow(isCut: false, member: leader, at: .now))
        etcd.kill(leader)
        Thread.sleep(forTimeInterval: 0.5)
        try etcd.restart(leader)
        led += 1
      }
      if Double(cut) + 0.5 < part * Double(cuts), let leader = etcd.leader {
        // A writer on each side, all the time.
        func keepWriting() throws { for number in 0..<members where !programs.isRunning(number) { try start(number) } }
        try keepWriting()
        blows.append(Blow(isCut: true, member: leader, at: .now))
        if let network { try network.cut(leader, true) } else { etcd.pause(leader, true) }
        while blows[blows.count - 1].at.duration(to: .now) < Trust.cutLength {
          Thread.sleep(forTimeInterval: 0.1)
          try keepWriting()
        }
        if let network { try network.cut(leader, false) } else { etcd.pause(leader, false) }
        cut += 1
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
    report(programs, outcome, members, took, died: kinds, blows)
    if !outcome.isWhole { throw Failure("the files are not what they should be") }
  }

  private static let cutLength = Duration.seconds(8)

  /// What was done to a member that led.
  private struct Blow {
    let isCut: Bool
    let member: Int
    let at: ContinuousClock.Instant
  }

  private func report(
    _ programs: Programs, _ outcome: Bank.Outcome, _ members: Int, _ took: Duration, died: [UnreliableLog.Death: Int],
    _ blows: [Blow]
  ) {
    let reports = programs.all
    let acknowledged = reports.flatMap(\.acknowledged)
    let times = reports.flatMap(\.times).sorted()
    let moments = reports.flatMap(\.moments).sorted()
    let gaps = zip(moments, moments.dropFirst()).map { (end: $1, seconds: $0.duration(to: $1) / .seconds(1)) }
    func longest(_ isCut: Bool) -> String {
      // What ends while the blow lasts, or soon after.
      let after = gaps.filter { gap in
        blows.contains { $0.isCut == isCut && $0.at < gap.end && $0.at.duration(to: gap.end) < .seconds(15) }
      }
      return (after.map(\.seconds).max() ?? 0).formatted(.number.precision(.fractionLength(1)))
    }
    let cuts = blows.filter(\.isCut)
    // What was under way when the cable was pulled may have arrived.
    let beyond = cuts.reduce(0) { count, cut in
      count
        + reports.indices.filter { hasNetwork && $0 % 3 == cut.member }.reduce(0) { count, number in
          count
            + reports[number].moments.count {
              cut.at + .milliseconds(200) < $0 && cut.at.duration(to: $0) < Trust.cutLength
            }
        }
    }
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
      leaders killed: \(blows.count - cuts.count), longest time without a commit then \(longest(false)) s
      leaders \(hasNetwork ? "cut off from the network" : "paused") for 8 s: \(cuts.count), longest time without a commit \
      then \(longest(true)) s\(hasNetwork ? ", acknowledged on the other side of the cut \(beyond)" : "")
      a commit: p50 \(time(0.5)) ms, p99 \(time(0.99)) ms, longest \(time(1)) ms; refused \(reports.reduce(0) { $0 + $1.refused.count })
      lost: \(outcome.lost)   twice: \(acknowledged.count - Set(acknowledged).count)   in the log and never acknowledged: \
      \(outcome.unacknowledged)
      \(members) files compared: \(outcome.differences.isEmpty ? "the same, row for row" : outcome.differences.joined(separator: "; ")); \
      money \(outcome.sum) of \(openingBalance * accountNames.count)
      """)
  }
}

import Foundation
import LocalEtcd

/// Three lists side by side that follow edits on all machines, while one thing after the other fails.
struct Demo {
  func run() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-cluster-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let screen = Screen()
    screen.say("three members of etcd start")
    let etcd = try EtcdCluster(3, in: folder)
    try etcd.waitForLeader()
    let programs = Programs(3, in: folder)
    try Bank.open(programs, count: 3, at: etcd.addresses)
    func start(_ number: Int) throws { try programs.start(number, at: etcd.addresses(from: number), pause: 60) }
    for number in 0..<3 { try start(number) }
    let begun = ContinuousClock.now
    screen.follow(
      programs, for: 4, "three programs move money between ten accounts; each list is a live query of its own")
    let leader = try etcd.waitForLeader()
    etcd.kill(leader)
    screen.follow(
      programs, for: 4, "the leading member of etcd is killed (\(leader + 1) of 3): lists stay, writes wait a moment")
    try etcd.restart(leader)
    programs.kill(1)
    screen.follow(programs, for: 3, "the program in the cellar is killed")
    try start(1)
    screen.follow(programs, for: 3, "it is started again, and has caught up")
    programs.cut(2, true)
    screen.follow(
      programs, for: 7, "the porch is cut off: its list can be read, its writes are refused after 5 seconds")
    programs.cut(2, false)
    screen.follow(programs, for: 4, "its cable is back: it has caught up, and writes again")
    for number in 0..<3 { programs.end(number) }
    let took = begun.duration(to: .now)
    let outcome = try Bank.compare(programs, count: 3, at: etcd.addresses)
    let acknowledged = programs.all.reduce(0) { $0 + $1.acknowledged.count }
    screen.finish()
    print(
      "\(acknowledged) transfers were acknowledged in \(took / .seconds(1)) s, and the log has \(outcome.position) entries."
    )
    print(
      "lost: \(outcome.lost)   differing files: \(outcome.differences.count)   money: \(outcome.sum) of \(openingBalance * accountNames.count)"
    )
    for difference in outcome.differences { print("  \(difference)") }
    if !outcome.isWhole { throw Failure("the files are not what they should be") }
    print("The three files are the same, row for row.")
  }
}

/// Three columns on a terminal, drawn ten times a second; elsewhere one line a second for each program.
final class Screen {
  private let isTerminal = isatty(STDOUT_FILENO) == 1
  private var lines = 0
  private var told: [String] = []
  private let width = 26

  func say(_ text: String) {
    if !isTerminal { return print("▸ \(text)") }
    told.append(text)
  }

  func follow(_ programs: Programs, for seconds: Int, _ text: String) {
    say(text)
    for tick in 0..<(seconds * 10) {
      if isTerminal {
        draw(programs.all)
      } else if tick % 10 == 9 {
        for (number, report) in programs.all.enumerated() {
          print(
            "  \(Programs.name(number)): \(report.state), \(report.acknowledged.count) done, first \(report.accounts.first ?? "-")"
          )
        }
      }
      Thread.sleep(forTimeInterval: 0.1)
    }
  }

  private func draw(_ reports: [Programs.Report]) {
    var text = lines > 0 ? "\u{1B}[\(lines)A" : ""
    var rows = told.enumerated().map { ($0 == told.count - 1 ? "▸ " : "✓ ") + $1 }
    rows.append("")
    rows.append(
      reports.indices.map { column("\u{1B}[1m\(Programs.name($0))\u{1B}[0m", Programs.name($0).count) }.joined())
    rows.append(reports.map { column($0.state, $0.state.count) }.joined())
    for place in 0..<accountNames.count {
      rows.append(
        reports.map { report in
          let cell = report.accounts.indices.contains(place) ? report.accounts[place] : ""
          return column("  \(cell)", cell.count + 2)
        }.joined())
    }
    rows.append(
      reports.map { report in
        let cell = "\(report.acknowledged.count) done, \(report.refused.count) refused"
        return column(cell, cell.count)
      }.joined())
    for row in rows { text += row + "\u{1B}[K\n" }
    lines = rows.count
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  private func column(_ text: String, _ count: Int) -> String {
    text + String(repeating: " ", count: max(1, width - count))
  }

  func finish() { lines = 0 }
}

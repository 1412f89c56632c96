import Foundation
import QuireSQLite
import QuireShared

/// The programs that share the store, as processes, and what they say.
final class Programs: Sendable {
  struct Report: Sendable {
    var state = "starting"
    var accounts: [String] = []
    var acknowledged: [String] = []
    /// In milliseconds, of those that were acknowledged.
    var times: [Double] = []
    /// When each was acknowledged.
    var moments: [ContinuousClock.Instant] = []
    var refused: [String] = []
  }

  private let folder: URL
  /// What starts a program on the machine of a number.
  private let command: @Sendable (String, [String], Int) -> (String, [String])
  private let reports: Locked<[Report]>
  private let processes: Locked<[Process?]>
  private let inputs: Locked<[Pipe?]>

  /// - Parameter command: What starts a program on the machine of a number.
  init(
    _ count: Int, in folder: URL,
    _ command: @escaping @Sendable (String, [String], Int) -> (String, [String]) = { program, words, _ in
      (program, words)
    }
  ) {
    self.folder = folder
    self.command = command
    reports = Locked(Array(repeating: Report(), count: count))
    processes = Locked(Array(repeating: nil, count: count))
    inputs = Locked(Array(repeating: nil, count: count))
  }

  deinit {
    for process in processes.withLock({ $0 }) { if let process { Foundation.kill(process.processIdentifier, SIGKILL) } }
  }

  static func name(_ number: Int) -> String { ["attic", "cellar", "porch", "shed"][number % 4] }
  func file(_ number: Int) -> String { folder.appending(path: "\(Programs.name(number)).db").path }
  var all: [Report] { reports.withLock { $0 } }
  subscript(number: Int) -> Report { reports.withLock { $0[number] } }

  /// Starts a program, or starts it again.
  func start(
    _ number: Int, at addresses: [String], pause: Int, dying death: UnreliableLog.Death = .never, after: Int = 1
  )
    throws
  {
    let process = Process()
    let arguments = [
      "member", "--name", Programs.name(number), "--file", file(number), "--at", addresses.joined(separator: ","),
      "--pause", "\(pause)", "--dies", death.rawValue, "--after", "\(after)",
    ]
    let (program, words) = command(CommandLine.arguments[0], arguments, number)
    process.executableURL = URL(filePath: program)
    process.arguments = words
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    processes.withLock { $0[number] = process }
    inputs.withLock { $0[number] = input }
    Thread.detachNewThread { [weak self] in
      var rest = Data()
      while true {
        let bytes = output.fileHandleForReading.availableData
        if bytes.isEmpty { return }
        rest += bytes
        while let end = rest.firstIndex(of: 10) {
          self?.hear(String(decoding: rest[..<end], as: UTF8.self), from: number)
          rest = Data(rest[rest.index(after: end)...])
        }
      }
    }
  }

  private func hear(_ line: String, from number: Int) {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    guard words.count == 2 else { return }
    reports.withLock { reports in
      switch words[0] {
      case "acknowledged":
        let parts = words[1].split(separator: " ")
        guard parts.count == 2, let time = Double(parts[1]) else { return }
        reports[number].acknowledged.append(String(parts[0]))
        reports[number].times.append(time)
        reports[number].moments.append(.now)
      case "refused": reports[number].refused.append(words[1])
      case "shows":
        let parts = words[1].components(separatedBy: " | ")
        reports[number].state = parts[0]
        reports[number].accounts = Array(parts.dropFirst())
      default: break
      }
    }
  }

  func isRunning(_ number: Int) -> Bool { processes.withLock { $0[number]?.isRunning == true } }

  /// Pulls a program's cable, or puts it back.
  func cut(_ number: Int, _ isCut: Bool) {
    let input = inputs.withLock { $0[number] }
    try? input?.fileHandleForWriting.write(contentsOf: Data((isCut ? "cut\n" : "join\n").utf8))
  }

  /// Ends a program at once.
  func kill(_ number: Int) {
    guard let process = processes.withLock({ $0[number] }), process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    reports.withLock { $0[number].state = "killed" }
  }

  /// Lets a program finish what it does.
  func end(_ number: Int) {
    try? inputs.withLock { $0[number] }?.fileHandleForWriting.close()
    for _ in 0..<300 where isRunning(number) { Thread.sleep(forTimeInterval: 0.1) }
    kill(number)
  }
}

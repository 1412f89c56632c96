import Foundation

/// Half of a load's clients in a process of their own: this program once more, with ``flag`` and what it is to play. For
/// each round it reads the round's number on its standard input and prints what the round took there.
@MainActor final class SecondProcess {
  static let flag = "--second-process"

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  init(_ variant: String, _ file: String, writes: Int) throws {
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [SecondProcess.flag, variant, file, "\(writes)"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  fileprivate func begin(_ round: Int) { input.fileHandleForWriting.write(Data("\(round)\n".utf8)) }

  /// Blocks until it has played the round.
  ///
  /// - Returns: how long each of its operations waited, and its CPU time, in nanoseconds.
  fileprivate func end() throws -> (waits: [Double], cpu: Double) {
    var line = Data()
    while line.last != UInt8(ascii: "\n") {
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { throw DeskError(description: "the second process has ended: see what it said above") }
      line += more
    }
    let figures = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    guard let cpu = figures.first else { throw DeskError(description: "the second process said nothing of its round") }
    return (Array(figures.dropFirst()), cpu)
  }

  func close() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw DeskError(description: "the second process failed: see above") }
  }

  /// What the process does that was started so: plays each round that it reads of, until there are no more.
  static func serve(_ play: (Int) async throws -> [Double]) async throws {
    while let line = readLine(), let round = Int(line) {
      let watch = Stopwatch()
      let waits = try await play(round)
      let cpu = watch.elapsed().cpu
      print("\(cpu) " + waits.map { "\($0)" }.joined(separator: " "))
      fflush(nil)
    }
  }
}

extension Meter {
  /// Times a load of this process and of another one, if there is one, that are under way at once.
  mutating func measureLoad(_ round: Int, with second: SecondProcess?, _ body: () async throws -> [Double]) async throws
  {
    var elsewhere: (waits: [Double], cpu: Double) = ([], 0)
    second?.begin(round)
    try await measureLoad {
      let waits = try await body()
      if let second { elsewhere = try second.end() }
      return waits
    }
    add(waits: elsewhere.waits, cpu: elsewhere.cpu)
  }
}

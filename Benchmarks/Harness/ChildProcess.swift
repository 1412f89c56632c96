import Foundation

/// A program run to its end, with what it cost.
struct ChildProcess {
  /// A program's process CPU time, user and system, from its start to its end, in nanoseconds; what it prints is thrown
  /// away.
  ///
  /// - Parameter input: a file for its standard input.
  static func run(_ program: String, _ arguments: [String], input: String? = nil) throws -> Int {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardInput = try input.map { try FileHandle(forReadingFrom: URL(filePath: $0)) } ?? .nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    let before = childrenTime()
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(program: program, status: process.terminationStatus) }
    return childrenTime() - before
  }

  struct Failure: Error, CustomStringConvertible {
    let program: String
    let status: Int32
    var description: String { "\(program) ended with status \(status)" }
  }

  /// The program called `name`: quire where `Scripts/bench` has built it, others on PATH.
  static func path(of name: String) throws -> String {
    let environment = ProcessInfo.processInfo.environment
    if name == "quire", let path = environment["QUIRE"] { return path }
    let folders = (environment["PATH"] ?? "").split(separator: ":")
    let found = folders.map { $0 + "/" + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
    guard let found else { throw Failure(program: name, status: 127) }
    return found
  }

  /// Of all children that have ended.
  private static func childrenTime() -> Int {
    var usage = rusage()
    let children: Int32 = -1  // RUSAGE_CHILDREN, which has another type on Linux
    getrusage(children, &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + $1.tv_sec * 1_000_000_000 + Int($1.tv_usec) * 1000 }
  }
}

import Foundation
import QuireSQLite

/// A file an answer is written into: put together beside it, and in its place once it is whole.
final class AnswerFile: Sendable {
  private let path: String
  private let made: String
  private let handle: FileHandle

  /// - Parameter database: The file being queried, which is never overwritten.
  init(_ path: String, besides database: String) throws(ShellFailure) {
    func resolved(_ path: String) -> String { URL(filePath: path).resolvingSymlinksInPath().standardizedFileURL.path }
    if resolved(path) == resolved(database) {
      throw ShellFailure("\(printable(path)) is the database itself; nothing was written", .refused)
    }
    self.path = path
    made = path + ".part-\(ProcessInfo.processInfo.processIdentifier)"
    guard FileManager.default.createFile(atPath: made, contents: nil), let handle = FileHandle(forWritingAtPath: made)
    else { throw ShellFailure("\(printable(path)) cannot be written", .usage) }
    self.handle = handle
  }

  deinit { try? FileManager.default.removeItem(atPath: made) }

  func write(_ bytes: UnsafeRawBufferPointer) throws { try handle.write(contentsOf: Data(bytes)) }

  func end() throws {
    try handle.close()
    if rename(made, path) != 0 {
      throw ShellFailure("\(printable(path)) cannot be written: \(String(cString: strerror(errno)))")
    }
  }
}

import Foundation
import QuireSQLite

/// The file an answer goes to.
///
/// It is made, or emptied, when the first of the answer is there: a query that cannot be run leaves it as it was. One
/// that fails in the middle leaves what had come by then. What is at the path stays what it is: the target of a link, a
/// file with its permissions, a pipe, a device.
package final class AnswerFile: Sendable {
  private let path: String
  private let state = Locked(State())

  private struct State {
    var file: Int32?
    var waiting: [UInt8] = []
    /// Why it could not be written, as a number of `errno`.
    var code: Int32?
  }

  /// - Parameter database: The file being queried, which is never overwritten.
  /// - Throws: ``ShellFailure`` if the path is the database's own, or one that SQLite would take for the log of a database.
  package init(_ path: String, besides database: String) throws(ShellFailure) {
    self.path = path
    if let obstacle = Self.obstacle(path, besides: database) {
      throw ShellFailure("\(obstacle); nothing was written", .refused)
    }
  }

  /// Why a path is not written to; nil if it may be.
  package static func obstacle(_ path: String, besides database: String) -> String? {
    if let own = FileNumbers(database), own == FileNumbers(path) { return "\(printable(path)) is the database itself" }
    var place = path
    // As many links as Linux follows.
    for _ in 0...40 {
      if let owner = SidecarFiles.owner(of: place) {
        return "SQLite would take \(printable(path)) for a file of \(printable(owner))"
      }
      guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: place) else { break }
      place = next.hasPrefix("/") ? next : URL(filePath: place).deletingLastPathComponent().path + "/" + next
    }
    return nil
  }

  deinit {
    if let file = state.withLock({ $0.file }) { close(file) }
  }

  /// - Throws: ``ShellFailure`` if it cannot be written, and from then on.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(ShellFailure) {
    let code = state.withLock { state in
      state.waiting.append(contentsOf: bytes)
      if state.waiting.count >= 1 << 16 { flush(&state) }
      return state.code
    }
    if let code { throw cannotBeWritten(code) }
  }

  /// Writes the buffered rest.
  ///
  /// - Throws: ``ShellFailure`` if the result could not be written completely, unless it is a pipe whose reader needs no
  ///   more of it.
  package func end() throws(ShellFailure) {
    let code = state.withLock { state in
      flush(&state)
      if let file = state.file, close(file) != 0, state.code == nil { state.code = errno }
      state.file = nil
      return state.code
    }
    if let code, code != EPIPE { throw cannotBeWritten(code) }
  }

  /// Why it could not be written, as a number of `errno`; nil if it could.
  package var failureCode: Int32? { state.withLock { $0.code } }

  private func flush(_ state: inout State) {
    defer { state.waiting.removeAll(keepingCapacity: true) }
    if state.code != nil { return }
    guard let file = state.file ?? openToWrite(path) else {
      state.code = errno
      return
    }
    state.file = file
    state.code = state.waiting.withUnsafeBytes { writeAll($0, to: file) }
  }

  private func cannotBeWritten(_ code: Int32) -> ShellFailure {
    ShellFailure("\(printable(path)) cannot be written: \(FileObstacle.reason(code))")
  }
}

/// Nil if it cannot be opened, for the reason in `errno`.
private func openToWrite(_ path: String) -> Int32? {
  let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
  if file < 0 { return nil }
  var found = stat()
  // A pipe or a device has no end to cut off.
  if fstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG, ftruncate(file, 0) != 0 {
    let code = errno
    close(file)
    errno = code
    return nil
  }
  return file
}

/// - Returns: Why it failed, as a number of `errno`.
private func writeAll(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Int32? {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return errno }
  }
  return nil
}

import Foundation
import QuireSQLite

/// A file or pipe that is read from its beginning. Waiting for a pipe's next bytes ends when the session is stopped.
final class InputFile {
  let path: String
  private let descriptor: Int32
  private let isStopped: () -> Bool

  /// Does not wait for the writer of a pipe; ``read(_:)`` does.
  ///
  /// - Throws: ``ShellFailure`` if the file cannot be opened.
  init(_ path: String, isStopped: @escaping () -> Bool) throws(ShellFailure) {
    self.path = path
    self.isStopped = isStopped
    // Otherwise opening a pipe waits for a writer, which no signal ends.
    descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 { throw Self.cannotBeRead(path) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The next bytes, as many as are there and at most `count`; none at the end.
  func read(_ count: Int) throws(ShellFailure) -> [UInt8] {
    while true {
      try waitForBytes()
      var bytes = [UInt8](repeating: 0, count: count)
      let read = Foundation.read(descriptor, &bytes, count)
      if read >= 0 {
        bytes.removeLast(count - read)
        return bytes
      }
      if errno != EINTR, errno != EAGAIN { throw Self.cannotBeRead(path) }
    }
  }

  /// Signals do not end a wait, as they restart what they interrupt; so a pipe is waited for a little at a time.
  private func waitForBytes() throws(ShellFailure) {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&waited, 1, Self.longestWaitInMilliseconds) <= 0 {
      if isStopped() { throw ShellFailure.stoppedImport }
    }
  }

  private static let longestWaitInMilliseconds: Int32 = 100

  private static func cannotBeRead(_ path: String) -> ShellFailure {
    ShellFailure("\(printable(path)) cannot be read: \(FileObstacle.reason(errno)). Nothing was added", .usage)
  }
}

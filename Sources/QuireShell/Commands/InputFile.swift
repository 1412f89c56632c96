import Foundation
import QuireSQLite

/// A file or pipe that is read from its beginning, or from where a descriptor of this process stands. Waiting for a pipe's next
/// bytes ends when the session is stopped.
final class InputFile {
  let path: String
  private let descriptor: Int32
  private let purpose: Purpose
  private let isStopped: () -> Bool

  /// What its bytes are, which says what has not happened if they cannot be had.
  enum Purpose: String {
    case records = "nothing was added"
    case statements = "nothing was run"
  }

  /// Does not wait for the writer of a pipe; ``read(_:)`` does.
  ///
  /// - Throws: ``ShellFailure`` if the file cannot be opened.
  init(_ path: String, _ purpose: Purpose = .records, isStopped: @escaping () -> Bool) throws(ShellFailure) {
    self.path = path
    self.purpose = purpose
    self.isStopped = isStopped
    // Otherwise opening a pipe waits for a writer, which no signal ends.
    descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 { throw cannotBeRead }
    // Of `(read line; quire …) < file` only what was not read. A pipe has no place, and needs none.
    if let own = PathLinks.descriptor(of: path), case let place = lseek(own, 0, SEEK_CUR), place > 0 {
      lseek(descriptor, place, SEEK_SET)
    }
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
      if errno != EINTR, errno != EAGAIN { throw cannotBeRead }
    }
  }

  /// Signals do not end a wait, as they restart what they interrupt; so a pipe is waited for a little at a time.
  private func waitForBytes() throws(ShellFailure) {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&waited, 1, Self.longestWaitInMilliseconds) <= 0 {
      if isStopped() { throw ShellFailure("stopped; \(purpose.rawValue)", .stopped) }
    }
  }

  private static let longestWaitInMilliseconds: Int32 = 100

  private var cannotBeRead: ShellFailure {
    var failure = ShellFailure("\(printable(path)) cannot be read: \(FileObstacle.reason(errno))", .usage)
    if purpose == .records { failure.state = ShellFailure.nothingAdded }
    return failure
  }
}

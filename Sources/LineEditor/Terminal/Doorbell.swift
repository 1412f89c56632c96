#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Wakes the thread that waits for keys, from any thread: what is shown beside the text has changed.
public final class Wakeup: Sendable {
  let outside: Descriptor
  let inside: Descriptor

  init() {
    var ends: [Int32] = [-1, -1]
    _ = pipe(&ends)
    (inside, outside) = (Descriptor(number: ends[0]), Descriptor(number: ends[1]))
    for end in ends where end >= 0 {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      // A full pipe has been rung often enough.
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
  }

  deinit {
    close(inside.number)
    close(outside.number)
  }

  public func ring() {
    var byte: UInt8 = 0
    _ = write(outside.number, &byte, 1)
  }

  /// Every byte since the last time.
  func answer() -> [UInt8] { inside.read() }
}

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A file descriptor to read from and write to; the code that opened it closes it.
struct Descriptor: Hashable, Sendable {
  let number: Int32

  var isTerminal: Bool { isatty(number) != 0 }

  /// The terminal's size; nil if it is not a terminal, or has no size.
  var size: Size? {
    var size = winsize()
    guard ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
    return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
  }

  /// Writes everything; what cannot be written, because the terminal is gone, is lost.
  func write(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      #if canImport(Darwin)
        let count = bytes.withUnsafeBytes { Darwin.write(number, $0.baseAddress, $0.count) }
      #else
        let count = bytes.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
      #endif
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        _ = Descriptor.wait(for: [self], to: Int16(POLLOUT), milliseconds: 1000)
        continue
      }
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }

  /// Reads up to some kilobytes; waits for the first byte. Empty at the end, or if the terminal is gone.
  func read() -> [UInt8] {
    var code: Int32?
    return read(&code)
  }

  /// - Parameter failure: Why it could not be read, as a number of `errno`; otherwise not changed.
  func read(_ failure: inout Int32?) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      #if canImport(Darwin)
        let count = bytes.withUnsafeMutableBytes { Darwin.read(number, $0.baseAddress, $0.count) }
      #else
        let count = bytes.withUnsafeMutableBytes { Glibc.read(number, $0.baseAddress, $0.count) }
      #endif
      if count < 0, errno == EINTR { continue }
      if count < 0 { failure = errno }
      return Array(bytes.prefix(max(0, count)))
    }
  }

  /// Those of `descriptors` that are ready, or at their end; none after the time, or when a signal came.
  static func wait(
    for descriptors: [Descriptor], to events: Int16 = Int16(POLLIN), milliseconds: Int32
  ) -> [Descriptor] {
    var polled = descriptors.map { pollfd(fd: $0.number, events: events, revents: 0) }
    guard poll(&polled, nfds_t(polled.count), milliseconds) > 0 else { return [] }
    return zip(descriptors, polled).filter { $1.revents != 0 }.map(\.0)
  }
}

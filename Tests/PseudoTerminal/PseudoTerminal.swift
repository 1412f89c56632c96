public import Foundation
import LineEditor

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A terminal that a test holds the other end of: what is typed, and what would be seen.
public final class PseudoTerminal {
  private let outer: Int32
  /// The end that is a terminal, for a program or an editor in this process.
  public let inner: Int32
  private let path: String
  public private(set) var screen: VirtualScreen

  /// A terminal that did not show in time what a test waits for.
  public struct NotShown: Error, CustomStringConvertible {
    public let description: String
  }

  public init(columns: Int = 60, rows: Int = 12) throws {
    var ends: (outer: Int32, inner: Int32) = (-1, -1)
    guard openpty(&ends.outer, &ends.inner, nil, nil, nil) == 0, let name = ttyname(ends.inner) else {
      throw NotShown(description: "there is no pseudo-terminal: \(String(cString: strerror(errno)))")
    }
    (outer, inner) = ends
    path = String(cString: name)
    screen = VirtualScreen(Size(columns: columns, rows: rows))
    _ = fcntl(outer, F_SETFD, FD_CLOEXEC)
    _ = fcntl(inner, F_SETFD, FD_CLOEXEC)
    tell(screen.size)
  }

  deinit {
    close(outer)
    close(inner)
  }

  private func tell(_ size: Size) {
    var said = winsize(ws_row: UInt16(size.rows), ws_col: UInt16(size.columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(outer, UInt(TIOCSWINSZ), &said)
  }

  public func resize(columns: Int, rows: Int) {
    let size = Size(columns: columns, rows: rows)
    screen.resize(size)
    tell(size)
  }

  // MARK: Typing and looking

  public func type(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { write(outer, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }

  /// Pastes as a terminal does.
  public func paste(_ text: String) { type("\u{1B}[200~" + text + "\u{1B}[201~") }

  /// Reads until the screen is whole and as wanted.
  @discardableResult
  public func wait(seconds: Int = 3600, for isShown: (VirtualScreen) -> Bool) throws -> VirtualScreen {
    let end = ContinuousClock.now + .seconds(seconds)
    while !screen.isWhole || !isShown(screen) {
      guard ContinuousClock.now < end, takeIn(milliseconds: 100) || !isAtEnd else {
        throw NotShown(description: "what was waited for did not come; there is:\n" + screen.text)
      }
    }
    return screen
  }

  /// Reads until a piece of text stands somewhere.
  @discardableResult public func wait(for text: String) throws -> VirtualScreen {
    try wait { $0.text.contains(text) }
  }

  /// Whether the other end is closed everywhere.
  private var isAtEnd = false

  private func takeIn(milliseconds: Int32) -> Bool {
    var polled = pollfd(fd: outer, events: Int16(POLLIN), revents: 0)
    guard poll(&polled, 1, milliseconds) > 0 else { return false }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = bytes.withUnsafeMutableBytes { read(outer, $0.baseAddress, $0.count) }
    isAtEnd = count <= 0
    screen.write(bytes.prefix(max(0, count)))
    return count > 0
  }

  // MARK: Programs

  /// Starts a program with this as its terminal, the leader of a session of its own.
  public func start(_ program: String, _ words: [String], in folder: URL, environment: [String: String]) throws
    -> Program
  {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // The first terminal that the leader of a session opens becomes its own.
    posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, 0, 1)
    posix_spawn_file_actions_adddup2(&actions, 0, 2)
    // What other tests have open just now is not for it to keep open.
    for descriptor: Int32 in 3..<1024 { posix_spawn_file_actions_addclose(&actions, descriptor) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Threads that tests run on may hear no signals, and who runs the tests may ignore some: both would be handed down.
    var (none, every) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&every)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &every)
    let flags = Self.newSession | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
    posix_spawnattr_setflags(&attributes, Int16(flags))
    var process = pid_t()
    let shell = "/bin/sh"
    let all = [shell, "-c", "cd \"$0\" && exec \"$@\"", folder.path, program] + words
    var arguments = all.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in arguments + variables { free(text) } }
    let result = posix_spawn(&process, shell, &actions, &attributes, &arguments, &variables)
    guard result == 0 else { throw NotShown(description: "\(program): \(String(cString: strerror(result)))") }
    return Program(process: process, terminal: self)
  }

  #if canImport(Darwin)
    private static let newSession: Int32 = POSIX_SPAWN_SETSID
  #else
    private static let newSession: Int32 = 0x80  // POSIX_SPAWN_SETSID, which Glibc's module leaves out
  #endif

  /// A program on a terminal; killed when nobody waits for it any more.
  public final class Program {
    public let process: pid_t
    private let terminal: PseudoTerminal
    private var hasEnded = false

    init(process: pid_t, terminal: PseudoTerminal) {
      self.process = process
      self.terminal = terminal
    }

    deinit {
      guard !hasEnded else { return }
      var status: Int32 = 0
      kill(process, SIGKILL)
      waitpid(process, &status, 0)
    }

    /// Its exit status, or the negative of the signal that ended it, once it is done.
    public func end(seconds: Int = 3600) throws -> Int32 {
      let end = ContinuousClock.now + .seconds(seconds)
      var status: Int32 = 0
      while waitpid(process, &status, WNOHANG) == 0 {
        guard ContinuousClock.now < end else {
          throw NotShown(description: "the program did not end; there is:\n" + terminal.screen.text)
        }
        _ = terminal.takeIn(milliseconds: 20)
      }
      hasEnded = true
      while terminal.takeIn(milliseconds: 0) {}
      return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }
  }
}

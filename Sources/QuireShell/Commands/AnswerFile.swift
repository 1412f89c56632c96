import Foundation
import QuireSQLite

/// The file an answer goes to.
///
/// A plain file is written beside its name, and gets it when the answer is complete: of a query that fails, is stopped or
/// killed nothing is left there but what was there before. Everything else is written into, when the first of the answer is
/// there: a pipe, a device, a file in a folder where no other can be made. What is at the path stays what it is: the target
/// of a link, a file with its permissions.
package final class AnswerFile: Sendable {
  private let path: String
  private let state = Locked(State())

  private struct State {
    var file: Target?
    var waiting: [UInt8] = []
    /// Why it could not be written, as a number of `errno`.
    var code: Int32?
  }

  private enum Target {
    case itself(Int32)
    case beside(UnfinishedFile, path: String)

    var descriptor: Int32 {
      switch self {
      case .itself(let descriptor): descriptor
      case .beside(let file, _): file.descriptor
      }
    }

    /// - Returns: Why it failed, as a number of `errno`.
    func end() -> Int32? {
      guard case .beside(let file, let path) = self else { return close(descriptor) == 0 ? nil : errno }
      // What is reported only when the bytes are on the disk, such as its end. Not all file systems can do that.
      if fsync(file.descriptor) != 0, errno != EINVAL { return errno }
      do {
        try file.move(to: path, replacing: true)
        return nil
      } catch {
        return error.code
      }
    }
  }

  /// - Parameters:
  ///   - path: `-` for standard output.
  ///   - database: The file being queried, which is never overwritten.
  /// - Throws: ``ShellFailure`` if the path is the database's own, or one that SQLite would take for the log of a database.
  package init(_ path: String, besides database: String) throws(ShellFailure) {
    self.path = path == "-" ? "/dev/stdout" : path
    if let obstacle = Self.obstacle(path, besides: database) {
      throw ShellFailure("\(obstacle); nothing was written", .refused)
    }
  }

  /// Why a path is not written to; nil if it may be.
  package static func obstacle(_ path: String, besides database: String) -> String? {
    if let own = FileNumbers(database), own == FileNumbers(path) { return "\(printable(path)) is the database itself" }
    for place in PathLinks.places(from: path) {
      if let owner = SidecarFiles.owner(of: place) {
        return "SQLite would take \(printable(path)) for a file of \(printable(owner))"
      }
    }
    return nil
  }

  deinit {
    if case .itself(let file)? = state.withLock({ $0.file }) { close(file) }
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

  /// Writes the buffered rest, and gives the file its name.
  ///
  /// - Throws: ``ShellFailure`` if the result could not be written completely, unless it is a pipe whose reader needs no
  ///   more of it.
  package func end() throws(ShellFailure) {
    let code = state.withLock { state in
      flush(&state)
      if state.code == nil {
        state.code = state.file?.end()
      } else if case .itself(let file)? = state.file {
        close(file)
      }
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
    do throws(SystemFailure) {
      let file = if let file = state.file { file } else { try Self.open(path) }
      state.file = file
      state.code = state.waiting.withUnsafeBytes { writeAll($0, to: file.descriptor) }
    } catch {
      state.code = error.code
    }
  }

  private func cannotBeWritten(_ code: Int32) -> ShellFailure {
    ShellFailure("\(printable(path)) cannot be written: \(FileObstacle.reason(code))")
  }
}

extension AnswerFile {
  private static func open(_ path: String) throws(SystemFailure) -> Target {
    if let descriptor = PathLinks.descriptor(of: path) {
      let file = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
      if file < 0 { throw SystemFailure(code: errno) }
      return .itself(file)
    }
    guard let place = UnfinishedFile.target(of: path) else { return try itself(path) }
    var info = stat()
    let isThere = stat(place, &info) == 0
    if isThere, access(place, W_OK) != 0 { throw SystemFailure(code: errno) }
    UnfinishedFile.removeAbandoned(to: place)
    do {
      let file = try UnfinishedFile(to: place, rights: isThere ? info.st_mode & 0o777 : 0o666)
      // A file of another owner stays that owner's.
      if isThere, !file.takeRights(of: place) { return try itself(path) }
      return .beside(file, path: place)
    } catch {
      // Nothing can be made beside it.
      if [EACCES, EPERM, EROFS, ENAMETOOLONG].contains(error.code) { return try itself(path) }
      throw error
    }
  }

  private static func itself(_ path: String) throws(SystemFailure) -> Target {
    // At the end of what a descriptor of another process has: it may have been opened to be added to.
    let isDescriptor = path.hasPrefix("/dev/") || path.hasPrefix("/proc/")
    let file = Foundation.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (isDescriptor ? O_APPEND : 0), 0o666)
    if file < 0 { throw SystemFailure(code: errno) }
    var found = stat()
    // A pipe or a device has no end to cut off.
    if !isDescriptor, fstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG, ftruncate(file, 0) != 0 {
      let code = errno
      close(file)
      throw SystemFailure(code: code)
    }
    return .itself(file)
  }
}

/// - Returns: Why it failed, as a number of `errno`.
private func writeAll(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Int32? {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count >= 0 {
      rest = rest.dropFirst(count)
    } else if errno == EAGAIN {
      // A descriptor may not wait by itself, as another process has set it.
      var waited = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
      poll(&waited, 1, -1)
    } else if errno != EINTR {
      return errno
    }
  }
  return nil
}

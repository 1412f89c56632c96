import Foundation
import Synchronization

/// The file an answer goes to in place of standard output.
///
/// It is made, or emptied, when the first of the answer is there: a query that cannot be run leaves it as it was. One
/// that fails in the middle leaves what had come by then.
final class AnswerFile: Sendable {
  private let path: String
  private let state = Mutex(State())

  private struct State {
    var file: FileHandle?
    var waiting = Data()
    var failure: CommandFailure?
    /// Why it could not be written, as a number of `errno`.
    var code: Int32?
  }

  /// - Throws: ``CommandFailure`` if the path is the database's own.
  init(_ path: String, from database: String) throws {
    self.path = path
    if let own = Self.identity(database), own == Self.identity(path) {
      throw CommandFailure("\(path) is the database itself: give another file to -o", .usage)
    }
  }

  /// - Returns: `terminal`, whose answers go here.
  func terminal(_ terminal: Terminal) -> Terminal {
    var terminal = terminal
    terminal.output = Terminal.Stream { [self] text in
      var text = text
      text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }
    terminal.output.writeBytes = { [self] in write($0) }
    terminal.outputFailure = { [self] in state.withLock { $0.code } }
    return terminal
  }

  private func write(_ bytes: UnsafeRawBufferPointer) {
    let data = Data(bytes)
    state.withLock { state in
      state.waiting.append(data)
      if state.waiting.count >= 1 << 16 { flush(&state) }
    }
  }

  /// Writes the buffered rest.
  ///
  /// - Throws: ``CommandFailure`` if the result could not be written completely, unless it is a pipe whose reader needs
  ///   no more of it.
  func end() throws {
    let failure = state.withLock { state in
      flush(&state)
      return state.code == EPIPE ? nil : state.failure
    }
    if let failure { throw failure }
  }

  private func flush(_ state: inout State) {
    defer { state.waiting.removeAll(keepingCapacity: true) }
    if state.failure != nil { return }
    do {
      let file = try state.file ?? open()
      state.file = file
      try file.write(contentsOf: state.waiting)
    } catch {
      state.code = errno == 0 ? EIO : errno
      state.failure = (error as? CommandFailure) ?? cannotBeWritten
    }
  }

  private func open() throws -> FileHandle {
    let file = FileHandle(forWritingAtPath: path)
    if let file {
      // A pipe or a device has no end to cut off.
      if (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType == .typeRegular {
        try file.truncate(atOffset: 0)
      }
      return file
    }
    guard FileManager.default.createFile(atPath: path, contents: nil), let made = FileHandle(forWritingAtPath: path)
    else { throw cannotBeWritten }
    return made
  }

  private var cannotBeWritten: CommandFailure {
    CommandFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
  }

  private static func identity(_ path: String) -> [UInt64]? {
    var found = stat()
    return stat(path, &found) == 0 ? [UInt64(found.st_dev), UInt64(found.st_ino)] : nil
  }
}

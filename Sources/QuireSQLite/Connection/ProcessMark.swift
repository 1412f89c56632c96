internal import CSQLite

/// The process in which something was made. A child made by `fork` has a copy of it, and must not use or end what it stands
/// for: SQLite's locks, and the threads of a store, are the parent's alone.
package struct ProcessMark: Sendable {
  private let forks = quire_forks()

  package init() {}

  /// Whether this process is a child, by `fork`, of the one in which it was made.
  package var isInherited: Bool { quire_forks() != forks }

  /// Whether SQLite had the file open in the process from which this one was forked: it would not lock it again here.
  static func isInherited(_ path: String) -> Bool {
    guard quire_forks() > 0, let file = FileNumbers(path) else { return false }
    return quire_file_is_inherited(file.device, file.inode) != 0
  }
}

/// Counts a connection to a file among those of its process.
final class OpenFile {
  private let file: FileNumbers?
  private let mark = ProcessMark()

  init(_ path: String) {
    let found = FileNumbers(path)
    file = found.flatMap { quire_file_opened($0.device, $0.inode) != 0 ? $0 : nil }
  }

  deinit {
    if let file, !mark.isInherited { quire_file_closed(file.device, file.inode) }
  }
}

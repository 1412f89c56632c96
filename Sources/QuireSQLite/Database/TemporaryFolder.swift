internal import Foundation
internal import Synchronization

/// A private folder that ends with the process: removed by its owner, or otherwise by the next process that makes one.
///
/// The owner holds a lock on a file in it. A folder is a leftover if its process is gone *and* the lock is free: the
/// process number alone could be that of a process in another container that shares the directory.
package final class TemporaryFolder: Sendable {
  package let path: String
  private let lock: Int32
  private let mark = ProcessMark()

  static let prefix = "quire-"
  /// Whether this process has looked for leftovers: once is enough, and takes longer than to make a folder.
  private static let hasLooked = Atomic(false)

  package init() throws(DatabaseError) {
    let parent = FileManager.default.temporaryDirectory.path
    if !Self.hasLooked.exchange(true, ordering: .relaxed) { Self.removeLeftovers(in: parent) }
    var template = Array("\(parent)/\(Self.prefix)\(getpid())-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {  // mkdtemp makes it with mode 0700
      throw .cannotCreate(path: parent, reason: FileObstacle.reason(errno))
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    lock = open(path + "/lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      let reason = FileObstacle.reason(errno)
      if lock >= 0 { close(lock) }
      throw .cannotCreate(path: path, reason: reason)
    }
  }

  deinit {
    if mark.isInherited { return }
    try? FileManager.default.removeItem(atPath: path)
    close(lock)
  }

  static func removeLeftovers(in parent: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
    for name in names where name.hasPrefix(prefix) {
      let parts = name.dropFirst(prefix.count).split(separator: "-")
      guard parts.count == 2, let process = pid_t(parts[0]), process > 0 else { continue }
      guard kill(process, 0) != 0, errno == ESRCH else { continue }
      let folder = parent + "/" + name
      let lock = open(folder + "/lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
      guard lock >= 0 else { continue }
      if flock(lock, LOCK_EX | LOCK_NB) == 0 { try? FileManager.default.removeItem(atPath: folder) }
      close(lock)
    }
  }
}

internal import CSQLite
package import Foundation

/// A file on its way to its name, which it gets when it is complete. Released before that, it is gone.
///
/// It is locked as long as this process lives: by that others tell it from a file that a process has left that was killed.
package final class UnfinishedFile {
  /// Stands in the name of a file that is still being written.
  package static let mark = ".unfinished"

  /// Its present name.
  package private(set) var name: String
  package let descriptor: Int32
  private var isFinished = false
  private let mark = ProcessMark()

  /// - Parameters:
  ///   - path: Its name in the end.
  ///   - rights: As of `open`.
  /// - Throws: The system's reason.
  package init(to path: String, rights: mode_t = 0o600) throws(SystemFailure) {
    (name, descriptor) = try Self.make("\(path)\(Self.mark)-\(getpid())", rights)
  }

  deinit {
    guard !mark.isInherited else { return }
    if !isFinished { UnfinishedCopy.remove(name) }
    close(descriptor)
  }

  /// Makes the file and locks it; again if this process is writing another one to the same path, or if another process took
  /// the file for one that was left behind.
  private static func make(_ first: String, _ rights: mode_t) throws(SystemFailure) -> (String, Int32) {
    var name = first
    for number in 2... {
      let descriptor = Foundation.open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, rights)
      if descriptor < 0, errno == EEXIST {
        name = "\(first)-\(number)"
        continue
      }
      guard descriptor >= 0 else { throw SystemFailure(code: errno) }
      // A file system without locks cannot tell what was left behind, and keeps it.
      flock(descriptor, LOCK_EX)
      var info = stat()
      if fstat(descriptor, &info) != 0 || info.st_nlink > 0 { return (name, descriptor) }
      close(descriptor)
    }
    throw SystemFailure(code: EEXIST)
  }

  /// Gives it the owner and the rights of another file, whatever the process's mask.
  ///
  /// - Returns: Whether it has them. The owner changes only where that is allowed, and another owner must not get wider rights.
  @discardableResult
  package func takeRights(of path: String) -> Bool { Self.giveRights(of: path, to: descriptor) }

  static func giveRights(of path: String, to file: Int32) -> Bool {
    var info = stat()
    guard stat(path, &info) == 0, fchown(file, info.st_uid, info.st_gid) == 0 else { return false }
    return fchmod(file, info.st_mode & 0o777) == 0
  }

  /// Gives it its name.
  ///
  /// - Parameter replacing: Whether a file of that name is replaced.
  package func move(to path: String, replacing: Bool) throws(SystemFailure) {
    guard (replacing ? rename(name, path) : quire_rename_new(name, path)) == 0 else { throw SystemFailure(code: errno) }
    name = path
    isFinished = true
  }

  // MARK: Others

  /// Removes those of these files that no living process is writing: what processes that were killed have left.
  package static func removeAbandoned(_ paths: [String]) {
    for path in paths {
      let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { UnfinishedCopy.remove(path) }
      close(descriptor)
    }
  }

  /// Removes what was left unfinished on its way to `path`.
  package static func removeAbandoned(to path: String) {
    let url = URL(filePath: path)
    let folder = url.deletingLastPathComponent().path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let beginning = url.lastPathComponent + mark + "-"
    let left = names.filter { name in
      name.hasPrefix(beginning) && name.dropFirst(beginning.count).allSatisfy { $0.isASCII && $0.isNumber || $0 == "-" }
    }
    removeAbandoned(left.map { "\(folder)/\($0)" })
  }

  /// The name under which a file can be put in the place of what a path leads to; nil if that has to be written into: a pipe, a
  /// device, a descriptor of this process, a file with other names or one that is mounted alone.
  package static func target(of path: String) -> String? {
    let places = PathLinks.places(from: path)
    if places.contains(where: { $0.hasPrefix("/dev/") || $0.hasPrefix("/proc/") }) { return nil }
    let place = places.last ?? path
    var info = stat()
    guard lstat(place, &info) == 0 else { return place }
    return info.st_mode & S_IFMT == S_IFREG && info.st_nlink == 1 && quire_is_mounted(place) == 0 ? place : nil
  }
}

/// An error of the system, as a number of `errno`.
package struct SystemFailure: Error, Hashable, Sendable {
  package let code: Int32

  package init(code: Int32) { self.code = code }
}

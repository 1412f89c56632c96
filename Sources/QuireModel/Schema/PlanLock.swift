import Foundation
import QuireSQLite

/// Held while a plan's stages run on a file: of several processes or threads that open it at once, one migrates it, and
/// the others wait for that, as long as the write timeout says.
///
/// A lock on the file's folder, which leaves nothing behind and ends with the process. If the file system has no such
/// locks, nothing is waited for.
enum PlanLock {
  /// The folders that the present task holds: a stage's closure may open another file of the folder.
  @TaskLocal private static var held: Set<String> = []

  /// - Throws: ``DatabaseError/busy(path:waited:by:)`` if another process or thread holds it for the whole timeout.
  static func holding(folderOf file: String, timeout: Duration, _ body: () throws -> Void) throws {
    let folder = URL(filePath: file).resolvingSymlinksInPath().deletingLastPathComponent().path
    if held.contains(folder) { return try body() }
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    let deadline = ContinuousClock.now + timeout
    while descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EINTR || errno == EWOULDBLOCK {
      if .now >= deadline {
        let holder = holder(of: descriptor)
        throw DatabaseError.busy(path: file, waited: timeout, by: "\(holder), which migrates files of its folder,")
      }
      usleep(10_000)
    }
    try $held.withValue(held.union([folder]), operation: body)
  }

  /// The process that has the lock, as far as the system tells.
  private static func holder(of descriptor: Int32) -> String {
    var info = stat()
    guard fstat(descriptor, &info) == 0, let locks = try? String(contentsOfFile: "/proc/locks", encoding: .utf8) else {
      return "another program"
    }
    // 1: FLOCK  ADVISORY  WRITE 4711 fe:00:123456 0 EOF
    for line in locks.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 5, words[1] == "FLOCK", words[5].hasSuffix(":\(info.st_ino)"), let process = Int32(words[4]),
        process > 0
      else { continue }
      if process == getpid() { return "another thread of this program" }
      let name = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
      return "process \(process)" + (name.map { " (\($0.trimmingCharacters(in: .newlines)))" } ?? "")
    }
    return "another program"
  }
}

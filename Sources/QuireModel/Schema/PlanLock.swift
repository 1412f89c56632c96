import Foundation
import QuireSQLite
import Synchronization

/// Held while a plan's stages run on a file: of several processes or threads that open it at once, one migrates it, and
/// the others wait for that, until one and the same has held it for as long as the write timeout says.
///
/// A lock on the file's folder, which leaves nothing behind and ends with the process. If the file system has no such
/// locks, nothing is waited for.
enum PlanLock {
  /// The folders that the present task holds: a stage's closure may open another file of the folder.
  @TaskLocal private static var held: Set<String> = []
  /// How often this process has let one go.
  private static let releases = Atomic(0)

  /// - Throws: ``DatabaseError/busy(path:waited:by:)`` if another process or thread holds it for the whole timeout. Files of one
  ///   folder are migrated one after the other, so that the wait for all of them may be longer.
  static func holding(folderOf file: String, timeout: Duration, _ body: () throws -> Void) throws {
    let folder = URL(filePath: file).resolvingSymlinksInPath().deletingLastPathComponent().path
    if held.contains(folder) { return try body() }
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    defer {
      if descriptor >= 0 {
        // A child that is forked meanwhile has the descriptor, too, and with it the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
      }
    }
    var deadline = ContinuousClock.now + timeout
    var seen: (holder: String, releases: Int)?
    while descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EINTR || errno == EWOULDBLOCK {
      let isOver = .now >= deadline
      if isOver || seen == nil {
        let present = (holder: holder(of: descriptor), releases: releases.load(ordering: .relaxed))
        if isOver, let seen, seen == present {
          throw DatabaseError.busy(
            path: file, waited: timeout, by: "\(present.holder), which migrates files of its folder,")
        }
        (seen, deadline) = (present, .now + timeout)
      }
      usleep(10_000)
    }
    defer { releases.add(1, ordering: .relaxed) }
    try $held.withValue(held.union([folder]), operation: body)
  }

  /// The process that has the lock, as far as the system tells.
  private static func holder(of descriptor: Int32) -> String {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { return "another program" }
    // The list is read in pieces, between which it changes: an entry may be missed.
    for _ in 1...5 { if let holder = holder(of: info) { return holder } }
    return "another program"
  }

  private static func holder(of info: stat) -> String? {
    // Through a file handle: `String(contentsOfFile:)` stops at the first short read, which is after 4 KB here.
    guard let bytes = try? FileHandle(forReadingAtPath: "/proc/locks")?.readToEnd() else { return nil }
    let locks = String(decoding: bytes, as: UTF8.self)
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
    return nil
  }
}

import Foundation

/// Held while a plan's stages run on a file: of several processes or threads that open it at once, one migrates it, and
/// the others wait for that.
///
/// A lock on the file's folder, which leaves nothing behind and ends with the process. If the file system has no such
/// locks, nothing is waited for.
enum PlanLock {
  /// The folders that the present task holds: a stage's closure may open another file of the folder.
  @TaskLocal private static var held: Set<String> = []

  static func holding(folderOf file: String, _ body: () throws -> Void) throws {
    let folder = URL(filePath: file).resolvingSymlinksInPath().deletingLastPathComponent().path
    if held.contains(folder) { return try body() }
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    while descriptor >= 0, flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
    try $held.withValue(held.union([folder]), operation: body)
  }
}

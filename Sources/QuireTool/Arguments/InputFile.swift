import Foundation

/// The bytes of what is named in the place of a file, a pipe too, such as `@<(…)` of a shell.
///
/// Through a file handle: `FileManager.contents(atPath:)` reads no pipe, and ends with the first short read of a file
/// below `/proc`.
enum InputFile {
  /// Nil if it cannot be read.
  static func contents(of path: String) -> Data? {
    guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
    do { return try handle.readToEnd() ?? Data() } catch { return nil }
  }
}

import Foundation

/// A file's name for people: the last part of its path.
struct FileName {
  let last: String

  init(_ path: String) {
    last = path.split(separator: "/").last.map(String.init) ?? path
  }

  /// Without its ending: `lib` of `lib.db`, `.profile` of `.profile`.
  var bare: String {
    guard let dot = last.lastIndex(of: "."), dot > last.startIndex else { return last }
    return String(last[..<dot])
  }

  /// Whether a path leads to a file that can be read more than once.
  static func isRegular(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }
}

import Foundation

/// One line on standard error that says what is going on.
///
/// On a terminal it is written over and over, and wiped before anything else is printed; elsewhere only `begin` is seen.
@MainActor enum Progress {
  private static let isTerminal = isatty(STDERR_FILENO) == 1
  private static var title = ""

  /// Starts a longer stretch of work.
  static func begin(_ title: String) {
    self.title = title
    write(isTerminal ? "\r\u{1b}[2K\(title)" : "\(title)\n")
  }

  /// Says how far it is.
  static func update(_ detail: String) {
    if isTerminal { write("\r\u{1b}[2K\(title) · \(detail)") }
  }

  static func wipe() {
    if isTerminal { write("\r\u{1b}[2K") }
  }

  private static func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}

import Foundation
import LineEditor

/// The history of earlier sessions: one JSON string per line, each a whole statement.
///
/// Only its owner may read it. If it cannot be read or written, there is no history, and no error.
struct HistoryFile {
  private let path: String
  /// How many entries are kept; the file is cut to them once it has twice as many.
  private static let most = 10_000

  /// Nil if there is no folder for it.
  init?(environment: Environment) {
    let home = environment["HOME"].map { $0 + "/.local/state" }
    guard let state = environment["XDG_STATE_HOME"].flatMap({ $0.hasPrefix("/") ? $0 : nil }) ?? home else {
      return nil
    }
    path = state + "/quire/history.jsonl"
  }

  func read() -> History {
    guard let data = FileManager.default.contents(atPath: path) else { return History() }
    let lines = data.split(separator: UInt8(ascii: "\n"))
    let kept = lines.suffix(Self.most)
    if lines.count > 2 * Self.most { write(Data(kept.joined(separator: [UInt8(ascii: "\n")])) + Data("\n".utf8)) }
    let decoder = JSONDecoder()
    var history = History(most: Self.most)
    for line in kept { if let entry = try? decoder.decode(String.self, from: line) { history.add(entry) } }
    return history
  }

  func append(_ entry: String) {
    let folder = URL(filePath: path).deletingLastPathComponent()
    try? FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    // A session that was killed, or a full disk, may have left half of a line.
    var last = UInt8(ascii: "\n")
    let size = lseek(file, 0, SEEK_END)
    if size > 0 { pread(file, &last, 1, size - 1) }
    let start = last == UInt8(ascii: "\n") ? "" : "\n"
    // One write, so that what two sessions add does not mix.
    try? FileHandle(fileDescriptor: file, closeOnDealloc: true).write(
      contentsOf: Data((start + JSON.string(entry).text + "\n").utf8))
  }

  private func write(_ data: Data) {
    let new = path + ".new"
    guard FileManager.default.createFile(atPath: new, contents: data, attributes: [.posixPermissions: 0o600]) else {
      return
    }
    if rename(new, path) != 0 { unlink(new) }
  }
}

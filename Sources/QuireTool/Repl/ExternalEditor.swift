import Foundation

/// The editor that `VISUAL` or `EDITOR` names, with a text of ours.
struct ExternalEditor {
  private let command: String
  private let environment: Environment

  init(environment: Environment) {
    command = ["VISUAL", "EDITOR"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "vi"
    self.environment = environment
  }

  /// The edited text, without the line end of its last line; nil if the editor failed.
  func edit(_ text: String) -> String? {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-\(UUID())")
    let file = folder.appending(path: "query.sql")
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try Data((text + "\n").utf8).write(to: file)
    } catch {
      return nil
    }
    guard run(file.path), let data = FileManager.default.contents(atPath: file.path) else { return nil }
    var edited = String(decoding: data, as: UTF8.self)
    while edited.last == "\n" || edited.last == "\r\n" { edited.removeLast() }
    return edited
  }

  /// In our own process group: in another the terminal would not be its.
  private func run(_ file: String) -> Bool {
    var process = pid_t()
    let words = ["/bin/sh", "-c", command + " \"$1\"", "sh", file]
    var arguments = words.map { strdup($0) } + [nil]
    var variables = environment.all.map { strdup("\($0)=\($1)") } + [nil]
    defer { for word in arguments + variables { free(word) } }
    // This thread may block signals, and the child process would inherit that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    guard posix_spawn(&process, words[0], nil, &attributes, &arguments, &variables) == 0 else { return false }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status == 0
  }
}

import QuireShell

extension RecordsFile {
  /// The file that a command was given in place of a database, if it is one of records.
  static func given(_ file: String, _ invocation: Invocation) throws -> RecordsFile? {
    do throws(ShellFailure) {
      guard let records = try RecordsFile(file) else { return nil }
      if invocation.flag("--write") {
        records.remove()
        throw ShellFailure("\(printable(file)) is read, and not written to: --write goes with a database", .usage)
      }
      return records
    } catch {
      throw CommandFailure(error, in: "")
    }
  }

  /// Lets a session take the records. A signal that stops it stops the session until then.
  func fill(_ session: ShellSession, _ invocation: Invocation) async throws {
    if invocation.isWholeProcess { StopSignal.stop(session) }
    defer { if invocation.isWholeProcess { StopSignal.goOn() } }
    try await session.take(self)
  }
}

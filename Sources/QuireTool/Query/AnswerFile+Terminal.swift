import QuireShell

extension AnswerFile {
  /// The file of `-o`.
  ///
  /// - Throws: ``CommandFailure`` if the path is the database's own, or its log's.
  convenience init(_ path: String, from database: String) throws {
    if let obstacle = Self.obstacle(path, besides: database) {
      throw CommandFailure("\(obstacle): give another file to -o", .usage)
    }
    try self.init(path, besides: database)
  }

  /// - Returns: `terminal`, whose answers go here. What fails is thrown at the end.
  func terminal(_ terminal: Terminal) -> Terminal {
    var terminal = terminal
    terminal.output = Terminal.Stream { [self] text in
      var text = text
      text.withUTF8 { try? write(UnsafeRawBufferPointer($0)) }
    }
    terminal.output.writeBytes = { [self] in try? write($0) }
    terminal.outputFailure = { [self] in failureCode }
    return terminal
  }
}

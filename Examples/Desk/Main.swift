import Foundation

/// `DeskExample [FILE [PORT]]`: a lending desk with an interface in JSON over HTTP, until SIGTERM or SIGINT.
@main struct Main {
  static func main() {
    // Before any other thread is made, so that none is ended by them.
    var stops = sigset_t()
    sigemptyset(&stops)
    sigaddset(&stops, SIGTERM)
    sigaddset(&stops, SIGINT)
    pthread_sigmask(SIG_BLOCK, &stops, nil)
    // A log that cannot be written, and a limit of a file's size, are errors and not the end.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)

    // Swift reads them in /proc; without it the defaults would be used.
    if CommandLine.arguments.isEmpty { end("the arguments cannot be read: /proc is not mounted") }
    let arguments = CommandLine.arguments.dropFirst()
    guard let port = UInt16(arguments.dropFirst().first ?? "8080") else { end("the port is a number to 65535") }
    do {
      let service = try Service(file: arguments.first ?? "desk.db", port: port) { line in
        write(line, to: .standardError)
      }
      write("listening on port \(service.server.port)", to: .standardOutput)
      var number: Int32 = 0
      sigwait(&stops, &number)
      Task {
        do { try await service.stop() } catch { end("\(error)") }
        exit(0)
      }
      dispatchMain()
    } catch {
      end("\(error)")
    }
  }

  private static func end(_ text: String) -> Never {
    write("error: \(text)", to: .standardError)
    exit(1)
  }

  /// `FileHandle.write(_:)` would end the program if the log's disk is full.
  private static func write(_ line: String, to file: FileHandle) {
    try? file.write(contentsOf: Data((line + "\n").utf8))
  }
}

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

    let arguments = CommandLine.arguments.dropFirst()
    guard let port = UInt16(arguments.dropFirst().first ?? "8080") else { end("the port is a number to 65535") }
    do {
      let service = try Service(file: arguments.first ?? "desk.db", port: port) { line in
        FileHandle.standardError.write(Data((line + "\n").utf8))
      }
      FileHandle.standardOutput.write(Data("listening on port \(service.server.port)\n".utf8))
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
    FileHandle.standardError.write(Data("error: \(text)\n".utf8))
    exit(1)
  }
}

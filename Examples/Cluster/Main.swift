import Foundation

/// Three machines on one: members of etcd, and programs that share a store.
///
///     ClusterExample demo      shows the lists of three programs, while a leader, a program and a connection fail
///     ClusterExample trust     counts what is lost while they fail by the dozen, and compares the files
///     ClusterExample member …  one of the programs, started by the others
@main struct Main {
  static func main() async {
    signal(SIGPIPE, SIG_IGN)
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      switch arguments.first {
      case "member": try await Member(Settings(Array(arguments.dropFirst()))).run()
      case "demo": try Demo().run()
      case "trust": try Trust(Settings(Array(arguments.dropFirst()))).run()
      default:
        print("usage: ClusterExample demo | trust [--commits N] [--deaths N] [--leaders N]")
        exit(2)
      }
    } catch {
      FileHandle.standardError.write(Data("error: \(error)\n".utf8))
      exit(1)
    }
  }
}

/// Options as `--name value`.
struct Settings {
  private var values: [String: String] = [:]

  init(_ words: [String]) throws {
    var words = words[...]
    while let name = words.popFirst() {
      guard name.hasPrefix("--"), let value = words.popFirst() else { throw Failure("‘\(name)’ is not --name value") }
      values[String(name.dropFirst(2))] = value
    }
  }

  func text(_ name: String) throws -> String {
    guard let value = values[name] else { throw Failure("--\(name) is missing") }
    return value
  }

  func number(_ name: String, or other: Int) throws -> Int {
    guard let value = values[name] else { return other }
    guard let number = Int(value) else { throw Failure("--\(name) takes a number, not ‘\(value)’") }
    return number
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Prints a line at once, also into a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

import Foundation

/// Writes Swift that carries files as they are: `EmbedMigrationsTool OUTPUT FILE…`, called by the build plug-in.
@main struct Main {
  static func main() {
    let words = CommandLine.arguments.dropFirst()
    guard let output = words.first else { fail("which output?") }
    var source = "import QuireMigration\n\n/// The files of `Migrations/` as they were when this was built.\n"
    source += "let embeddedMigrations: [EmbeddedMigration] = [\n"
    for path in words.dropFirst() {
      guard let data = FileManager.default.contents(atPath: path) else { fail("\(path) cannot be read") }
      guard let text = String(validating: data, as: UTF8.self) else { fail("\(path) is not UTF-8") }
      let name = path.split(separator: "/").last.map(String.init) ?? path
      source += "  EmbeddedMigration(name: \(literal(name)), text: \(literal(text))),\n"
    }
    source += "]\n"
    // An unchanged file keeps its modification time, so that nothing that depends on it is rebuilt.
    if FileManager.default.contents(atPath: output) == Data(source.utf8) { return }
    do {
      try Data(source.utf8).write(to: URL(filePath: output), options: .atomic)
    } catch {
      fail("\(output) cannot be written: \(error.localizedDescription)")
    }
  }

  /// A string as Swift reads it back whole.
  private static func literal(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        if scalar.value < 32 || scalar.value == 127 {
          result += "\\u{\(String(scalar.value, radix: 16))}"
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }

  private static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("error: \(message)\n".utf8))
    exit(1)
  }
}

import Foundation
import QuireTool
import Synchronization

/// A terminal that keeps what is said.
final class Recorder: Sendable {
  private let said = Mutex<(output: String, error: String)>(("", ""))

  var output: String { said.withLock { $0.output } }
  var error: String { said.withLock { $0.error } }

  func terminal(isTerminal: Bool = false, usesColor: Bool = false) -> Terminal {
    Terminal(
      output: .init(isTerminal: isTerminal, usesColor: usesColor) { text in self.said.withLock { $0.output += text } },
      error: .init(isTerminal: isTerminal, usesColor: usesColor) { text in self.said.withLock { $0.error += text } })
  }
}

/// What one run of a tool came to.
struct Ran {
  let status: Int32
  let output: String
  let error: String
}

extension Tool {
  func ran(_ words: String..., environment: Environment = [:], usesColor: Bool = false) async -> Ran {
    let recorder = Recorder()
    let status = await run(words, terminal: recorder.terminal(usesColor: usesColor), environment: environment)
    return Ran(status: status, output: recorder.output, error: recorder.error)
  }
}

import Foundation
import QuireSQLite

/// A reader or listener that triggered itself repeatedly and was therefore ended. All others continue.
///
///     Catalog/Shelf.swift:12 runs for what it changes itself, 100 times on end
///
/// Detected if one run causes the next: two readers that each write what the other reads, a `didChange` that assigns
/// what it reads, a listener that changes its own object. A task started by a reader begins a new chain.
public struct ObservationLoop: Error, Hashable, Sendable {
  /// The file in which it was made, as `#fileID` gives it.
  public let file: String
  /// The line on which it was made.
  public let line: Int
  /// The number of its runs, each caused by the one before.
  public let rounds: Int

  /// The number of rounds after which it is ended.
  package static let limit = 100

  private struct Handler {
    let run: @Sendable (ObservationLoop) -> Void
  }

  private static let handler = Locked(
    // `write(_:)` would end the program where standard error cannot be written, as on a full disk.
    Handler { try? FileHandle.standardError.write(contentsOf: Data("quire: \($0)\n".utf8)) })

  /// Calls `body` for every loop detected in this process from now on, on the isolation where it is detected. Without a
  /// handler, each loop is printed to standard error.
  public static func onDetection(_ body: @escaping @Sendable (ObservationLoop) -> Void) {
    handler.withLock { $0 = Handler(run: body) }
  }

  package func report() { ObservationLoop.handler.withLock { $0 }.run(self) }
}

extension ObservationLoop: CustomStringConvertible {
  public var description: String {
    "\(file):\(line) runs for what it changes itself, \(rounds) times on end: it was ended"
  }
}

/// The place in the source where something was made.
package struct SourcePlace: Sendable {
  package let file: String
  package let line: Int

  package init(_ file: String, _ line: Int) {
    self.file = file
    self.line = line
  }

  package func loop(after rounds: Int) -> ObservationLoop { ObservationLoop(file: file, line: line, rounds: rounds) }
}

import Foundation
import QuireSQLite

/// A reader or a listener that set itself off again and again, and was ended for it. All others went on.
///
///     Catalog/Shelf.swift:12 runs for what it changes itself, 100 times on end
///
/// Found where its runs are caused by its runs: two readers that write what the other reads, a `didChange` that assigns what
/// it reads, a listener that changes its own object. What a reader starts as a task of its own begins anew.
public struct ObservationLoop: Error, Hashable, Sendable {
  /// The file it was made in, as `#fileID` says.
  public let file: String
  /// The line it was made at.
  public let line: Int
  /// How many of its runs, each caused by the one before.
  public let rounds: Int

  /// After so many rounds it is ended.
  public static let limit = 100

  private struct Handler {
    let run: @Sendable (ObservationLoop) -> Void
  }

  private static let handler = Locked(
    Handler { FileHandle.standardError.write(Data("quire: \($0)\n".utf8)) })

  /// Calls `body` for every loop found in this process from now on, on whatever isolation it is found. Without one, each
  /// is a line on standard error.
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

/// Where in the source something was made.
package struct SourcePlace: Sendable {
  package let file: String
  package let line: Int

  package init(_ file: String, _ line: Int) {
    self.file = file
    self.line = line
  }

  package func loop(after rounds: Int) -> ObservationLoop { ObservationLoop(file: file, line: line, rounds: rounds) }
}

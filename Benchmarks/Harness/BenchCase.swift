/// A question `Scripts/bench` asks, and everybody who answers it.
///
/// All variants of a case do the same operations on equal data, and give the same checksum for every round; the first
/// that does not ends the run.
@MainActor struct BenchCase {
  let name: String
  /// What one operation is, for `--help`.
  let operation: String
  /// The variant the ratios are against.
  let baseline: String
  /// The ratio Quire's own variants are to stay below; nil where none is set.
  let goal: Double?
  /// What stands in a figure.
  let unit: Unit
  let variants: [Entry]

  enum Unit: Sendable {
    /// Nanoseconds of process CPU time for one operation.
    case time
    /// The same of every single operation, its median and 99th percentile, the wall clock beside it, and counts: of
    /// queries run, of rows stepped over, of observers called.
    case latency
    /// CPU time for one operation of many that are under way at once, and how long each waited: median and 99th
    /// percentile of the wall clock, and how many were done in a second.
    case load
    /// Bytes of malloc in use for one object.
    case memory
  }

  /// A variant by its name, made when its case is run.
  struct Entry {
    let name: String
    let make: @MainActor (Stage) async throws -> any Variant

    init(_ name: String, _ make: @escaping @MainActor (Stage) async throws -> any Variant) {
      (self.name, self.make) = (name, make)
    }

    /// Whether the case's goal is for this variant.
    var isQuire: Bool { name.hasPrefix("quire") }
    /// Whether it has an observer on another actor: played only where that is asked for, and has no goal.
    var isHop: Bool { name == "hop" }
  }

  init(
    _ name: String, _ operation: String, vs baseline: String, goal: Double? = nil, unit: Unit = .time,
    _ variants: Entry...
  ) {
    self.name = name
    self.operation = operation
    self.baseline = baseline
    self.goal = goal
    self.unit = unit
    self.variants = variants
  }
}

/// One way of doing a case's operations, made once and asked for several rounds.
///
/// What it needs (files, connections, ready-made objects) it sets up in its initializer or in a round outside the
/// meter's closures, and there too it lets go of what a round made.
@MainActor protocol Variant: AnyObject {
  /// Does the case's operations once over, inside `meter`, and returns the checksum of what came of them.
  ///
  /// Rounds count from 0, which is the warm-up; what a round does may depend on its number, but on nothing else that
  /// other variants do not see.
  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum

  /// Called after the last round.
  func close() async throws
}

extension Variant {
  func close() async throws {}
}

/// What a case is played on: how many rows, and where its files are.
@MainActor struct Stage {
  let rows: Int
  let workspace: Workspace

  /// A fresh file of the workload's tables with this stage's number of books, for one variant alone.
  func file(_ contents: Workspace.Contents = .books) throws -> String {
    try workspace.file(contents, rows: rows)
  }
}

import Foundation

/// Process CPU time (user and system, all threads) and wall time, in nanoseconds.
struct Stopwatch {
  private var cpu: UInt64
  private var wall: UInt64

  @inline(__always) init() {
    wall = clock_gettime_nsec(CLOCK_MONOTONIC)
    cpu = clock_gettime_nsec(CLOCK_PROCESS_CPUTIME_ID)
  }

  @inline(__always) func elapsed() -> (cpu: Double, wall: Double) {
    let cpu = clock_gettime_nsec(CLOCK_PROCESS_CPUTIME_ID)
    let wall = clock_gettime_nsec(CLOCK_MONOTONIC)
    return (Double(cpu - self.cpu), Double(wall - self.wall))
  }
}

@inline(__always) private func clock_gettime_nsec(_ clock: clockid_t) -> UInt64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Collects the figures of one round of one variant.
///
/// A round uses one of its ways: `measure` for work too short to time singly, `sample` for operations that each count,
/// `measureLoad` for operations that are under way at once, `count` for what is not time.
@MainActor struct Meter {
  /// What operations are counted by in a round that is for that, and not for the clock.
  let counts: (@MainActor () -> StatementCounts)?
  private var cpu = 0.0
  private var wall = 0.0
  private var operations = 0
  private(set) var samples: [Double] = []
  private var wallSamples: [Double] = []
  /// How long each operation of a load waited.
  private(set) var waits: [Double] = []
  private var counted = StatementCounts()
  private var woken = 0

  init(counts: (@MainActor () -> StatementCounts)? = nil) { self.counts = counts }

  /// Times `operations` operations together. Repeated calls add up.
  ///
  /// What `body` returns is freed after the clock has stopped.
  @inline(__always) mutating func measure<Result>(_ operations: Int, _ body: () throws -> Result) rethrows -> Result {
    let watch = Stopwatch()
    let result = try body()
    let elapsed = watch.elapsed()
    cpu += elapsed.cpu
    wall += elapsed.wall
    self.operations += operations
    return result
  }

  /// The same until nothing is left that the caller's actor is to do later, such as the end of the turn, and after
  /// `settled`.
  @inline(__always) mutating func measureUntilQuiet(
    _ operations: Int, _ body: () throws -> Void, settled: @MainActor () async -> Void = {}
  ) async rethrows {
    let watch = Stopwatch()
    try body()
    await Task.yield()
    await settled()
    let elapsed = watch.elapsed()
    cpu += elapsed.cpu
    wall += elapsed.wall
    self.operations += operations
  }

  /// Times operations that are under way at once; `body` returns how long each waited, in nanoseconds.
  mutating func measureLoad(_ body: () async throws -> [Double]) async rethrows {
    let watch = Stopwatch()
    let waits = try await body()
    let elapsed = watch.elapsed()
    cpu += elapsed.cpu
    wall += elapsed.wall
    operations += waits.count
    self.waits += waits
  }

  /// Adds what another process did of a load meanwhile.
  mutating func add(waits: [Double], cpu: Double) {
    self.cpu += cpu
    operations += waits.count
    self.waits += waits
  }

  /// The same by the wall clock alone: what one operation takes of it.
  mutating func measureThroughput(_ body: () async throws -> [Double]) async rethrows {
    let watch = Stopwatch()
    let waits = try await body()
    cpu += watch.elapsed().wall
    operations += waits.count
  }

  /// Operations in a second of the wall clock.
  var perSecond: Double { Double(operations) / (wall / 1e9) }

  /// Times `operations` processes that `body` starts and waits for: what they and the system took for them, and nothing
  /// of ours.
  mutating func measureChildren(_ operations: Int, _ body: () throws -> Void) rethrows {
    let before = Self.childrenTime
    let watch = Stopwatch()
    try body()
    wall += watch.elapsed().wall
    cpu += Self.childrenTime - before
    self.operations += operations
  }

  /// One operation that somebody waits for, such as a prompt: its figure is the wall clock's.
  mutating func add(wait: Duration) {
    wall += wait / .nanoseconds(1)
    cpu += wait / .nanoseconds(1)
    operations += 1
  }

  /// CPU time of all processes that were waited for, in nanoseconds.
  private static var childrenTime: Double {
    var usage = rusage()
    #if canImport(Darwin)
      getrusage(RUSAGE_CHILDREN, &usage)
    #else
      getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
    #endif
    let seconds = Double(usage.ru_utime.tv_sec) + Double(usage.ru_stime.tv_sec)
    let microseconds = Double(usage.ru_utime.tv_usec) + Double(usage.ru_stime.tv_usec)
    return seconds * 1e9 + microseconds * 1e3
  }

  /// Times one operation, which is kept on its own for the median and the 99th percentile.
  @inline(__always) mutating func sample<Result>(_ body: () throws -> Result) rethrows -> Result {
    let before = counts?()
    let watch = Stopwatch()
    let result = try body()
    add(watch, before)
    return result
  }

  /// The same until nothing is left of the operation that its actor is to do later, such as the end of the turn, and
  /// after `settled`.
  @inline(__always) mutating func sampleUntilQuiet(
    _ body: () throws -> Void, settled: @MainActor () async throws -> Void = {}
  ) async rethrows {
    let before = counts?()
    let watch = Stopwatch()
    try body()
    await Task.yield()
    try await settled()
    add(watch, before)
  }

  private mutating func add(_ watch: Stopwatch, _ before: StatementCounts?) {
    let elapsed = watch.elapsed()
    samples.append(elapsed.cpu)
    wallSamples.append(elapsed.wall)
    guard let before, let counts else { return }
    let done = counts() - before
    counted.queries += done.queries
    counted.rowsStepped += done.rowsStepped
  }

  /// Notes that this many observers were called.
  @inline(__always) mutating func wake(_ observers: Int) { woken += observers }

  /// For one operation: runs of a `SELECT`, rows stepped over, observers called. Of a round that counted.
  var countsPerOperation: (queries: Double, rowsStepped: Double, woken: Double) {
    let operations = Double(max(samples.count, 1))
    return (Double(counted.queries) / operations, Double(counted.rowsStepped) / operations, Double(woken) / operations)
  }

  /// Takes `total` of something that is not time, spread over `operations`.
  mutating func count(_ total: Int, over operations: Int) {
    cpu += Double(total)
    self.operations += operations
  }

  /// The round's figure for one operation: the mean of what was measured together, the median of what was sampled.
  var figure: (cpu: Double, wall: Double) {
    if !waits.isEmpty { return (cpu / Double(operations), median(waits)) }
    if samples.isEmpty { return (cpu / Double(operations), wall / Double(operations)) }
    return (median(samples), median(wallSamples))
  }
}

/// The middle of the values, or the mean of the middle two; not a number without any.
func median(_ values: [Double]) -> Double {
  guard !values.isEmpty else { return .nan }
  let sorted = values.sorted()
  let middle = sorted.count / 2
  return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}

/// The value that `share` of the values are not above, by nearest rank; not a number without any.
func percentile(_ share: Double, of values: [Double]) -> Double {
  guard !values.isEmpty else { return .nan }
  let rank = Int((share * Double(values.count)).rounded(.up))
  return values.sorted()[min(max(rank, 1), values.count) - 1]
}

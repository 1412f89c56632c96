import QuireModel
import QuireRow
import QuireSQLite

/// One aggregate of all rows that match: the content of ``LiveValue``.
///
/// A sum beyond its type is an error; the last valid value stays until the sum fits again.
final class MeasureOperator<Value: Equatable>: LiveOperator {
  private(set) var tracker: AggregateTracker
  private let read: (AggregateState) throws -> Value
  private var shown: Shown?
  /// Used until the first value is loaded.
  private let placeholder: Value
  var sourcesChanged = false

  /// A class, because no code but `read` knows the value's size.
  final class Shown {
    let value: Value
    /// As stored in its column: equal texts may have different bytes.
    let extreme: QuireRow.Value

    init(_ value: Value, extreme: QuireRow.Value) {
      self.value = value
      self.extreme = extreme
    }

    func isIdentical(to other: Shown) -> Bool { value == other.value && extreme == other.extreme }
  }

  final class Delta: LiveDelta {
    let old: Shown?
    let new: Shown
    /// The operator's new state, if it was loaded.
    let loaded: AggregateTracker?
    let changesContent: Bool
    var isEmpty: Bool { loaded == nil && !changesContent }

    init(old: Shown?, new: Shown, loaded: AggregateTracker? = nil) {
      self.old = old
      self.new = new
      self.loaded = loaded
      changesContent = !(old?.isIdentical(to: new) ?? false)
    }
  }

  /// - Parameter read: Converts an aggregate to its value. Throws if it does not fit the type.
  init(_ select: SelectQuery, _ aggregate: Aggregate, read: @escaping (AggregateState) throws -> Value) throws {
    self.read = read
    tracker = AggregateTracker(select, [aggregate])
    placeholder = try read(tracker.whole.states[0])
  }

  var value: Value { shown?.value ?? placeholder }

  var tables: [String] { tracker.tables }
  var filters: [ChangeFilter] { tracker.filters }
  func interests(in database: Database) -> [CaptureToken] { tracker.columns.interests(in: database) }
  var queriesRun: Int { tracker.queriesRun }
  func explanation(on connection: Connection) throws -> LiveExplanation { try tracker.explanation(on: connection) }

  func load(_ query: SelectQuery, _ occasion: LoadOccasion, on connection: Connection) throws -> Delta {
    let tracker = try tracker.loaded(query, on: connection)
    return Delta(old: shown, new: try shown(by: tracker.whole.states[0]), loaded: tracker)
  }

  func step(_ batch: CommitBatch, on connection: Connection) throws -> Outcome<Delta> {
    guard try tracker.step(batch, on: connection) != nil else { return .unchanged }
    do {
      return .changed(Delta(old: shown, new: try shown(by: tracker.whole.states[0])))
    } catch {
      return .failed(error)
    }
  }

  private func shown(by state: AggregateState) throws -> Shown { Shown(try read(state), extreme: state.extreme) }

  func apply(_ delta: Delta) {
    shown = delta.new
    guard let loaded = delta.loaded else { return }
    tracker = loaded
    sourcesChanged = true
  }

  func difference(_ delta: Delta, commit: Int64) -> Difference<Value>? {
    guard delta.changesContent, let old = delta.old else { return nil }
    return Difference(commit: commit, changes: [.update(at: 0, old: old.value, new: delta.new.value)])
  }
}

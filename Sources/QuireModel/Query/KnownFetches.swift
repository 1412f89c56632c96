import Foundation
import QuireRow
import QuireSQLite

/// The SQL of fetches by their form: a predicate is translated at the first fetch of its place in the code, and later ones
/// only bind their values.
package final class KnownFetches: Sendable {
  /// The number of forms that are remembered. With a further one all are forgotten: where code makes new key paths all the
  /// time, other fetches are remembered still.
  package static let limit = 256

  private let known = Locked<[QueryForm: KnownFetch]>([:])

  /// How many forms are remembered, for tests.
  package var count: Int { known.withLock { $0.count } }

  /// The statement of a fetch; nil if it must be translated: a part of it is not known by its form, or objects must be
  /// asked.
  ///
  /// - Parameter write: writes the statement of a query.
  func statement<Model: PersistentModel>(
    _ descriptor: FetchDescriptor<Model>, for answer: QueryForm.Answer, in store: Store,
    _ write: (ResolvedQuery) throws -> SQLText
  ) -> SQLText? {
    guard let reader = FormReader(descriptor, for: answer, in: store) else { return nil }
    if let fetch = known.withLock({ $0[reader.form] }) { return fetch.statement(binding: reader.values) }
    guard reader.hasDistinctValues else { return nil }
    let fetch = KnownFetch(reader.keyPaths, try? Self.sampled(descriptor, reader, in: store, write))
    known.withLock { known in
      if known.count >= Self.limit { known.removeAll() }
      known[reader.form] = fetch
    }
    return fetch.statement(binding: reader.values)
  }

  /// Translates a fetch twice, with other values each time.
  ///
  /// - Throws: If it cannot be translated, or more depends on its values than what is bound.
  private static func sampled<Model: PersistentModel>(
    _ descriptor: FetchDescriptor<Model>, _ reader: FormReader, in store: Store,
    _ write: (ResolvedQuery) throws -> SQLText
  ) throws -> BoundPlaces {
    func sample(_ round: Int) throws -> (SQLText, [Value]) {
      let standIns = try StandIns(for: reader.captured, round: round, in: store)
      var sample = descriptor
      var values = standIns.stored
      if sample.fetchLimit != nil {
        sample.fetchLimit = 5_000_000_021 + round
        values.append(.integer(Int64(5_000_000_021 + round)))
      }
      if let offset = sample.fetchOffset, offset > 0 {
        sample.fetchOffset = 6_000_000_043 + round
        values.append(.integer(Int64(6_000_000_043 + round)))
      }
      let query = try ResolvedQuery(sample, in: store, evaluating: true, standingIn: standIns)
      if query.remaining != nil { throw NotBound() }
      return (try write(query), values)
    }
    return try BoundPlaces(sample(1), sample(2))
  }
}

/// What is remembered of a form.
// @unchecked: key paths are immutable, but the standard library does not declare them `Sendable`.
private struct KnownFetch: @unchecked Sendable {
  /// Kept, because a form knows them by identity.
  private let keyPaths: [AnyKeyPath]
  private let places: BoundPlaces?

  init(_ keyPaths: [AnyKeyPath], _ places: BoundPlaces?) {
    self.keyPaths = keyPaths
    self.places = places
  }

  func statement(binding values: [Value]) -> SQLText? { places?.statement(binding: values) }
}

/// More of a statement depends on captured values than what it binds.
private struct NotBound: Error {}

/// A statement, and what each of its `?` is bound to.
private struct BoundPlaces {
  private enum Place {
    case value(Int), always(Value)
  }
  private let text: String
  private let places: [Place]

  /// Compares two statements that differ in their values alone.
  ///
  /// - Throws: ``NotBound`` if anything else differs, or if a value is bound nowhere.
  init(_ first: (sql: SQLText, values: [Value]), _ second: (sql: SQLText, values: [Value])) throws {
    guard first.sql.text == second.sql.text, first.sql.bindings.count == second.sql.bindings.count else {
      throw NotBound()
    }
    text = first.sql.text
    places = try zip(first.sql.bindings, second.sql.bindings).map { one, other in
      if let index = first.values.firstIndex(of: one), second.values[index] == other { return .value(index) }
      if one == other { return .always(one) }
      throw NotBound()
    }
    let bound = places.compactMap { if case .value(let index) = $0 { index } else { nil } }
    if Set(bound).count < first.values.count { throw NotBound() }
  }

  func statement(binding values: [Value]) -> SQLText {
    SQLText(
      text,
      places.map { place in
        switch place {
        case .value(let index): values[index]
        case .always(let value): value
        }
      })
  }
}

import QuireModel
import QuireSQLite

/// The values of an observed closure, as an asynchronous sequence.
///
///     for await titles in observing({ shelf.map(\.title) }) { print(titles) }
///
/// The first value is the present one. There is another one after each turn in which anything the closure read has
/// changed; a slow consumer receives only the latest. An error thrown by the closure ends the sequence. For one
/// consumer. Observation ends with the sequence, its iterator, or the iterating task.
public func observing<Element: Sendable, Failure: Error>(
  isolation: isolated any Actor = #isolation, file: String = #fileID, line: Int = #line,
  _ read: @escaping () throws(Failure) -> Element
) -> ObservedValues<Element, Failure> {
  ObservedValues(isolation, SourcePlace(file, line)) { () throws(Failure) -> Element? in try read() }
}

/// The values of an observed closure, until it returns nil. Its label is always written: without it nil is a value.
@_disfavoredOverload public func observing<Element: Sendable, Failure: Error>(
  untilNil read: @escaping () throws(Failure) -> Element?, isolation: isolated any Actor = #isolation,
  file: String = #fileID, line: Int = #line
) -> ObservedValues<Element, Failure> {
  ObservedValues(isolation, SourcePlace(file, line), read)
}

/// The sequence of ``observing(isolation:file:line:_:)``.
public struct ObservedValues<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
  private let values: AsyncStream<Result<Element, Failure>>
  private let token: ObservationToken

  fileprivate init(
    _ isolation: any Actor, _ place: SourcePlace, _ read: @escaping () throws(Failure) -> Element?
  ) {
    let (values, continuation) = AsyncStream.makeStream(
      of: Result<Element, Failure>.self, bufferingPolicy: .bufferingNewest(1))
    self.values = values
    var latest: Result<Element?, Failure>?
    let reader = Reader(isolation, place) {
      latest = Result { () throws(Failure) -> Element? in try read() }
    } hasRead: {
      switch latest.take() {
      case .success(let value?)?: continuation.yield(.success(value))
      case .failure(let error)?:
        continuation.yield(.failure(error))
        continuation.finish()
      case .success(nil)?: continuation.finish()
      case nil: break
      }
    }
    continuation.onTermination = { _ in reader.end() }
    token = ObservationToken(reader)
  }

  public func makeAsyncIterator() -> Iterator { Iterator(values: values.makeAsyncIterator(), token: token) }

  /// Delivers the values one by one. While no value is new, `next()` suspends; observation ends when the iterator is released.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var values: AsyncStream<Result<Element, Failure>>.Iterator
    fileprivate let token: ObservationToken

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Element? {
      try await values.next(isolation: actor)?.get()
    }
  }
}

@available(*, unavailable)
extension ObservedValues.Iterator: Sendable {}

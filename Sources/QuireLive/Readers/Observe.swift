public import QuireModel
public import QuireSQLite

/// Runs a closure, tracks what it reads, and runs it again after any of that has changed.
///
///     let token = observe { print(book.title) }
///
/// The closure runs immediately, and then on the isolation where it was made, at most once a turn, however much changed
/// in it. (A turn is one uninterrupted run of the actor.) A reader made inside another reader runs after that one has
/// run. Only the token keeps a reader alive: when it is released, the closure never runs again.
///
/// The closure may read anything `Observable`: models and live results of any number of contexts, references, other
/// classes. A value that it changes itself, after reading it, does not run it again. Two readers that trigger each
/// other endlessly are ended and reported, see ``QuireModel/ObservationLoop``. Code on no actor must name the contexts
/// whose turns count: ``observe(in:_:file:line:_:)``.
public func observe(
  isolation: isolated any Actor = #isolation, file: String = #fileID, line: Int = #line,
  _ read: @escaping () -> Void
) -> ObservationToken {
  ObservationToken(Reader(isolation, SourcePlace(file, line), read: read))
}

/// Runs a closure, and after anything it read has changed, calls `didChange` with its value before and after.
///
///     let token = observe { book.title } didChange: { old, new in print("\(old) is now \(new)") }
///
/// Called at most once a turn, with the value at its end; not called if the value is equal.
public func observe<Value>(
  isolation: isolated any Actor = #isolation, file: String = #fileID, line: Int = #line,
  _ read: @escaping () -> Value, didChange: @escaping (_ old: Value, _ new: Value) -> Void
) -> ObservationToken {
  ObservationToken(Reader(isolation, SourcePlace(file, line), read, willChange: nil, didChange: didChange))
}

/// Runs a closure, and calls `willChange` before anything it read changes.
///
///     let token = observe { book.title } willChange: { title in print("no longer \(title)") }
///
/// `willChange` is called synchronously by the code that makes the change, once a turn, before the first change: the
/// whole context still reads as before. What is read must be changed only on this isolation, as models are.
public func observe<Value>(
  isolation: isolated any Actor = #isolation, file: String = #fileID, line: Int = #line,
  _ read: @escaping () -> Value, willChange: @escaping (_ old: Value) -> Void,
  didChange: @escaping (_ old: Value, _ new: Value) -> Void = { _, _ in }
) -> ObservationToken {
  ObservationToken(Reader(isolation, SourcePlace(file, line), read, willChange: willChange, didChange: didChange))
}

// MARK: On no actor

/// Runs a closure again when the turn of one of these contexts ends; for contexts made on no actor.
///
/// Their turns end at `save()`, `refresh()` and the end of `transaction {}`. The reader belongs to the isolation of the
/// contexts; changes of other objects that it reads count as well, and are checked at the end of these turns.
public func observe(
  in context: ModelContext, _ others: ModelContext..., file: String = #fileID, line: Int = #line,
  _ read: @escaping () -> Void
) -> ObservationToken {
  ObservationToken(Reader(nil, SourcePlace(file, line), read: read), [context] + others)
}

/// As ``observe(isolation:file:line:_:willChange:didChange:)``, in the turns of contexts made on no actor.
public func observe<Value>(
  in context: ModelContext, _ others: ModelContext..., file: String = #fileID, line: Int = #line,
  _ read: @escaping () -> Value,
  willChange: @escaping (_ old: Value) -> Void = { _ in }, didChange: @escaping (_ old: Value, _ new: Value) -> Void
) -> ObservationToken {
  ObservationToken(
    Reader(nil, SourcePlace(file, line), read, willChange: willChange, didChange: didChange), [context] + others)
}

extension ObservationToken {
  /// Starts the reader, which runs in the turns of these contexts too.
  convenience init(_ reader: Reader, _ contexts: [ModelContext] = []) {
    self.init(reader: reader) { reader.end() }
    for context in contexts { context.owner.following.turnReaders.add(reader) }
    reader.start()
  }

  /// How often the closure of `observe` has run; 0 of other observers.
  public var runs: Int { (reader as? Reader)?.runs ?? 0 }
  /// The loop for which the closure of `observe` was ended, if it triggered itself endlessly.
  public var loop: ObservationLoop? { (reader as? Reader)?.loop }
}

extension Reader {
  /// A reader that keeps the value it read last.
  fileprivate convenience init<Value>(
    _ isolation: (any Actor)?, _ place: SourcePlace, _ read: @escaping () -> Value,
    willChange: ((Value) -> Void)?, didChange: @escaping (Value, Value) -> Void
  ) {
    let last = Last<Value>()
    let before = willChange.map { willChange in { if let value = last.value { willChange(value) } } }
    self.init(isolation, place, read: { last.next = read() }, willChange: before) {
      guard let next = last.next.take() else { return }
      let old = last.value
      last.value = next
      if let old, !isIdentical(old, next) { didChange(old, next) }
    }
  }
}

private final class Last<Value> {
  var value: Value?
  var next: Value?
}

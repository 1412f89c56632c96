public import QuireModel

/// Runs a closure, remembers what it read, and runs it again after any of that changed.
///
///     let token = observe { print(book.title) }
///
/// Runs at once, and then on the isolation it was made in, once a turn however much changed in it. Made inside another
/// reader, it runs when that has. Nothing keeps it alive but the token: when that goes, it never runs again.
///
/// What it reads is whatever is `Observable`: models and live results of any number of contexts, references, classes of
/// one's own. A value it changes itself, after having read it, does not run it again; two readers that set each other off
/// without end are ended and named, see ``QuireModel/ObservationLoop``. Code on no actor names the contexts whose turns
/// count: ``observe(in:_:file:line:_:)``.
public func observe(
  isolation: isolated any Actor = #isolation, file: String = #fileID, line: Int = #line,
  _ read: @escaping () -> Void
) -> ObservationToken {
  ObservationToken(Reader(isolation, SourcePlace(file, line), read: read))
}

/// Runs a closure, and after anything it read has changed gives its value before and after.
///
///     let token = observe { book.title } didChange: { old, new in print("\(old) is now \(new)") }
///
/// Told once a turn, with the value at its end; a turn that leaves an equal value says nothing.
public func observe<Value>(
  isolation: isolated any Actor = #isolation, file: String = #fileID, line: Int = #line,
  _ read: @escaping () -> Value, didChange: @escaping (_ old: Value, _ new: Value) -> Void
) -> ObservationToken {
  ObservationToken(Reader(isolation, SourcePlace(file, line), read, willChange: { _ in }, didChange: didChange))
}

/// Runs a closure, and tells before anything it read changes.
///
///     let token = observe { book.title } willChange: { title in print("no longer \(title)") }
///
/// `willChange` is called in the middle of the code that makes the change, once a turn, before the first: everything
/// still reads as before, in all of the context. What is read must be changed on this isolation only, as models are.
public func observe<Value>(
  isolation: isolated any Actor = #isolation, file: String = #fileID, line: Int = #line,
  _ read: @escaping () -> Value, willChange: @escaping (_ old: Value) -> Void,
  didChange: @escaping (_ old: Value, _ new: Value) -> Void = { _, _ in }
) -> ObservationToken {
  ObservationToken(Reader(isolation, SourcePlace(file, line), read, willChange: willChange, didChange: didChange))
}

// MARK: On no actor

/// The same for contexts made on no actor: runs again when the turn of one of them ends.
///
/// Their turns end at `save()`, `refresh()` and the end of `transaction {}`. The reader belongs to the isolation of the
/// contexts; what else it reads counts as well, and is looked at in their turns.
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

/// Keeps a reader alive; it ends with the token.
public final class ObservationToken: Sendable {
  private let reader: Reader

  init(_ reader: Reader, _ contexts: [ModelContext] = []) {
    self.reader = reader
    for context in contexts { context.owner.following.turnReaders.add(reader) }
    reader.start()
  }

  deinit { reader.end() }

  /// Ends the reader now.
  public func cancel() { reader.end() }
  /// How often it has run.
  public var runs: Int { reader.runs }
  /// Why it was ended, where it set itself off without end.
  public var loop: ObservationLoop? { reader.loop }
}

extension Reader {
  /// One that keeps the value it read last.
  fileprivate convenience init<Value>(
    _ isolation: (any Actor)?, _ place: SourcePlace, _ read: @escaping () -> Value,
    willChange: @escaping (Value) -> Void, didChange: @escaping (Value, Value) -> Void
  ) {
    let last = Last<Value>()
    self.init(isolation, place) {
      last.next = read()
    } willChange: {
      if let value = last.value { willChange(value) }
    } hasRead: {
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

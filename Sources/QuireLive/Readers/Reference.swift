public import Observation
public import QuireModel

/// An observable reference to a model; may be nil. Both the reference and its model are observed.
///
///     let current = Reference<Book>(in: context)
///     current.model = Book("Solaris")                 // inserted in the context
///     let token = current.onDidChange { print($0) }   // another book, its title, its end
///
/// Code that tracks ``model`` is invalidated when another object is assigned or the object is deleted, and by the
/// properties it reads. Listeners are notified of all these. If the object is deleted, or its row is, the reference
/// becomes nil permanently: a `rollback()` that restores the object does not restore the reference. Holds its object
/// strongly, and nothing else.
public final class Reference<Model: PersistentModel>: Observable {
  private let registrar = ObservationRegistrar()
  private let modelPath: KeyPath<Reference, Model?> = \.model
  private weak var context: ModelContext?
  private var target: Model?
  private var watch: Listener<_Announcement>?
  private var listeners = Listeners<(moment: Moment, change: Change)>()

  /// - Parameters:
  ///   - model: The initial object; observed from now on.
  ///   - context: The context into which assigned models without a context are inserted; by default that of the first
  ///     model that has one.
  public init(_ model: Model? = nil, in context: ModelContext? = nil) {
    self.context = context
    adopt(model.flatMap { $0.isDeleted ? nil : $0 })
  }

  /// The object; nil if there is none, or if it was deleted.
  ///
  /// Assigning a model that is in no context inserts it in the reference's context.
  public var model: Model? {
    get {
      registrar.access(self, keyPath: modelPath)
      return present
    }
    set { retarget(to: newValue) }
  }

  private var present: Model? { target.flatMap { $0.isDeleted ? nil : $0 } }

  private func retarget(to model: Model?) {
    let new = model.flatMap { $0.isDeleted ? nil : $0 }
    let old = present
    if old === new { return }
    let change = Change.retargeted(from: old, to: new)
    tell(.willSet, change)
    registrar.willSet(self, keyPath: modelPath)
    adopt(new)
    registrar.didSet(self, keyPath: modelPath)
    tell(.didSet, change)
  }

  /// Refers to the model from now on, inserts it if it is new, and listens to it instead of the previous one.
  private func adopt(_ model: Model?) {
    target = model
    watch = nil
    guard let model else { return }
    if let context, model.modelContext == nil, !model.isDeleted { context.insert(model) }
    if context == nil { context = model.modelContext }
    let watch = Listener<_Announcement>(nil) { [weak self] in self?.hears($0) }
    model._listen(watch)
    self.watch = watch
  }

  private func hears(_ announcement: _Announcement) {
    guard let model = target, announcement.isOf(model) else { return }
    let moment: Moment = announcement.isBefore ? .willSet : .didSet
    if !announcement.isVanishing { return tell(moment, .updated(announcement.change(of: model))) }
    switch moment {
    case .willSet:
      tell(.willSet, .vanished(model))
      if target !== model { return }  // by an observer
      registrar.willSet(self, keyPath: modelPath)
    case .didSet:
      target = nil
      watch = nil
      registrar.didSet(self, keyPath: modelPath)
      tell(.didSet, .vanished(model))
    }
  }

  // MARK: Listening

  /// Calls `body` before each change of the reference and of its object: both still read as before.
  public func onWillChange(
    file: String = #fileID, line: Int = #line, _ body: @escaping (Change) -> Void
  ) -> ChangeToken {
    listen(.willSet, SourcePlace(file, line), body)
  }

  /// Calls `body` after each change of the reference and of its object.
  public func onDidChange(
    file: String = #fileID, line: Int = #line, _ body: @escaping (Change) -> Void
  ) -> ChangeToken {
    listen(.didSet, SourcePlace(file, line), body)
  }

  private func listen(
    _ moment: Moment, _ place: SourcePlace, _ body: @escaping (Change) -> Void
  ) -> ChangeToken {
    let listener = Listener<(moment: Moment, change: Change)>(place, isBefore: moment == .willSet) { told in
      if told.moment == moment { body(told.change) }
    }
    listeners.add(listener)
    return ChangeToken(listener)
  }

  private func tell(_ moment: Moment, _ change: Change) {
    let listeners = listeners
    listeners.tell((moment, change))
  }
}

extension Reference {
  /// A change of a reference or of its object.
  public enum Change {
    /// Another object, or nil, was assigned.
    case retargeted(from: Model?, to: Model?)
    /// The object has changed: which properties, old and new. A model that conforms to
    /// ``QuireModel/ChangeNotificationFiltering`` decides which of its changes are delivered.
    case updated(ObjectChange<Model>)
    /// The object was deleted, and the reference is nil.
    case vanished(Model)
  }
}

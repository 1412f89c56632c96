public import Observation
public import QuireModel

/// A reference to a model that may be nil, and is observed: itself and what it refers to.
///
///     let current = Reference<Book>(in: context)
///     current.model = Book("Solaris")                 // inserted in the context
///     let token = current.onDidChange { print($0) }   // another book, its title, its end
///
/// Who tracks ``model`` hears when another object is put here or this one goes, and of the properties it reads as
/// always. Listeners hear of both. An object that is deleted, or whose row goes, makes it nil for good: a `rollback()`
/// that brings the object back does not bring it back here. Holds its object strongly, and nothing else.
public final class Reference<Model: PersistentModel>: Observable {
  private let registrar = ObservationRegistrar()
  private let modelPath: KeyPath<Reference, Model?> = \.model
  private weak var context: ModelContext?
  private var target: Model?
  private var watch: Listener<_Announcement>?
  private var listeners = Listeners<(moment: Moment, change: ReferenceChange<Model>)>()

  /// - Parameters:
  ///   - model: What it refers to at first; observed from here on.
  ///   - context: Where models that are in no context are inserted when they are assigned; where none is given, that of
  ///     the first model that has one.
  public init(_ model: Model? = nil, in context: ModelContext? = nil) {
    self.context = context
    adopt(model.flatMap { $0.isDeleted ? nil : $0 })
  }

  /// What it refers to. Nil where that is gone.
  ///
  /// Assigned a model that is in no context, it inserts it in its own.
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
    let change = ReferenceChange.retargeted(from: old, to: new)
    tell(.willSet, change)
    registrar.willSet(self, keyPath: modelPath)
    adopt(new)
    registrar.didSet(self, keyPath: modelPath)
    tell(.didSet, change)
  }

  /// Takes it, inserted where it is new, and listens to it; to the former no longer.
  private func adopt(_ model: Model?) {
    target = model
    watch = nil
    guard let model else { return }
    if let context, model.modelContext == nil { context.insert(model) }
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
      if target !== model { return }  // by who was told
      registrar.willSet(self, keyPath: modelPath)
    case .didSet:
      target = nil
      watch = nil
      registrar.didSet(self, keyPath: modelPath)
      tell(.didSet, .vanished(model))
    }
  }

  // MARK: Listening

  /// Calls `body` before each change of the reference and of what it refers to: both still read as before.
  public func onWillChange(
    file: String = #fileID, line: Int = #line, _ body: @escaping (ReferenceChange<Model>) -> Void
  ) -> ChangeToken {
    listen(.willSet, SourcePlace(file, line), body)
  }

  /// Calls `body` after each change of the reference and of what it refers to.
  public func onDidChange(
    file: String = #fileID, line: Int = #line, _ body: @escaping (ReferenceChange<Model>) -> Void
  ) -> ChangeToken {
    listen(.didSet, SourcePlace(file, line), body)
  }

  private func listen(
    _ moment: Moment, _ place: SourcePlace, _ body: @escaping (ReferenceChange<Model>) -> Void
  ) -> ChangeToken {
    let listener = Listener<(moment: Moment, change: ReferenceChange<Model>)>(place) { told in
      if told.moment == moment { body(told.change) }
    }
    listeners.add(listener)
    return ChangeToken(listener)
  }

  private func tell(_ moment: Moment, _ change: ReferenceChange<Model>) {
    let listeners = listeners
    listeners.tell((moment, change))
  }
}

/// What became of a reference.
public enum ReferenceChange<Model: PersistentModel> {
  /// Another object was put there, or none.
  case retargeted(from: Model?, to: Model?)
  /// What it refers to has changed: which properties, old and new. A model that is ``QuireModel/ChangeNotificationFiltering`` says which
  /// of its changes are told.
  case updated(ObjectChange<Model>)
  /// What it referred to is gone, and the reference is nil.
  case vanished(Model)
}

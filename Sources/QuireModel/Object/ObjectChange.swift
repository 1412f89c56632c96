/// What one change did to an object: which properties, each with its value before and after.
///
/// One assignment is one change; so is one commit made elsewhere, with all the properties it changed. Used while it is
/// told, on the object's isolation.
public struct ObjectChange<Model: PersistentModel> {
  /// The object.
  public let model: Model
  let announcement: _Announcement

  /// Whether the object goes: it is deleted here, or its row is gone.
  public var vanishes: Bool { announcement.isVanishing }

  /// The properties that change; none of an object that goes.
  public var properties: [PartialKeyPath<Model>] {
    announcement.keyPaths.compactMap { $0 as? PartialKeyPath<Model> }
  }

  /// Whether the change is of this property, among others.
  public func contains(_ property: PartialKeyPath<Model>) -> Bool { announcement.keyPaths.contains(property) }

  /// The value before; nil of a property that does not change.
  public func old<Value>(_ property: KeyPath<Model, Value>) -> Value? { announcement.old(property) }
  /// The value before, or nil.
  public func old<Value>(_ property: KeyPath<Model, Value?>) -> Value? { announcement.old(property) ?? nil }

  /// The value after; nil of a property that does not change. Of a relationship it is known when the change has been
  /// made, and not to who is told before.
  public func new<Value>(_ property: KeyPath<Model, Value>) -> Value? { announcement.new(property) }
  /// The value after, or nil.
  public func new<Value>(_ property: KeyPath<Model, Value?>) -> Value? { announcement.new(property) ?? nil }
}

/// A model that says itself which of its changes are announced.
///
///     extension Book: ChangeNotificationFiltering {
///       func announces(_ change: ObjectChange<Book>) -> Bool { change.contains(\.title) }
///     }
///
/// Asked once for each change, before it is made, while anybody listens with ``PersistentModel/onWillChange(_:)``,
/// ``PersistentModel/onDidChange(_:)`` or through a reference: either all of them hear of it, before and after, or none. Who
/// tracks properties, live queries and `store.commits` are not affected, and that an object goes is always told.
public protocol ChangeNotificationFiltering: PersistentModel {
  /// The class itself.
  associatedtype Announced: PersistentModel
  /// Whether this change is announced. Called on the object's isolation, before the change is made.
  func announces(_ change: ObjectChange<Announced>) -> Bool
}

extension PersistentModel {
  /// Calls `body` before each change of this object: it, and all else of its context, still reads as before.
  ///
  /// On the object's isolation, in the middle of what makes the change. Ends with the token.
  public func onWillChange(
    file: String = #fileID, line: Int = #line, _ body: @escaping (ObjectChange<Self>) -> Void
  ) -> ChangeToken {
    listen(.willSet, SourcePlace(file, line), body)
  }

  /// Calls `body` after each change of this object: it, and all else of its context, reads as after it.
  ///
  /// On the object's isolation, in the middle of what makes the change: several of a turn are several calls. Ends with
  /// the token.
  public func onDidChange(
    file: String = #fileID, line: Int = #line, _ body: @escaping (ObjectChange<Self>) -> Void
  ) -> ChangeToken {
    listen(.didSet, SourcePlace(file, line), body)
  }

  private func listen(
    _ moment: Moment, _ place: SourcePlace, _ body: @escaping (ObjectChange<Self>) -> Void
  ) -> ChangeToken {
    let listener = Listener<_Announcement>(place) { announcement in
      guard announcement.moment == moment, let model = announcement.model as? Self else { return }
      body(ObjectChange(model: model, announcement: announcement))
    }
    _listen(listener)
    return ChangeToken(listener)
  }

  /// The listener is held weakly.
  package func _listen(_ listener: Listener<_Announcement>) { QuireModel.listen(listener, to: self) }
}

extension _Announcement {
  /// This announcement as the change of one class's object.
  package func isOf(_ model: some PersistentModel) -> Bool { self.model === model }

  package func change<Model: PersistentModel>(of model: Model) -> ObjectChange<Model> {
    ObjectChange(model: model, announcement: self)
  }
}

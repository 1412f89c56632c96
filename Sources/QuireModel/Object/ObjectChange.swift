/// One change of an object: the changed properties, each with its value before and after.
///
/// One assignment is one change; so is one commit made elsewhere, with all the properties it changed. Valid only inside
/// the notification, on the object's isolation.
public struct ObjectChange<Model: PersistentModel> {
  /// The object.
  public let model: Model
  let announcement: _Announcement

  /// Whether the object is deleted: in this context, or because its row is gone.
  public var vanishes: Bool { announcement.isVanishing }

  /// The properties that change; empty if the object is deleted.
  public var properties: [PartialKeyPath<Model>] {
    announcement.keyPaths.compactMap { $0 as? PartialKeyPath<Model> }
  }

  /// Whether this property changes, alone or among others.
  public func contains(_ property: PartialKeyPath<Model>) -> Bool { announcement.keyPaths.contains(property) }

  /// The value before; nil for a property that does not change.
  public func old<Value>(_ property: KeyPath<Model, Value>) -> Value? { announcement.old(property) }
  /// The value before, or nil.
  public func old<Value>(_ property: KeyPath<Model, Value?>) -> Value? { announcement.old(property) ?? nil }

  /// The value after; nil for a property that does not change. For a relationship it is available only after the
  /// change, not in the notification before it.
  public func new<Value>(_ property: KeyPath<Model, Value>) -> Value? { announcement.new(property) }
  /// The value after, or nil.
  public func new<Value>(_ property: KeyPath<Model, Value?>) -> Value? { announcement.new(property) ?? nil }
}

/// A model that decides which of its changes its listeners receive.
///
///     extension Book: ChangeNotificationFiltering {
///       func announces(_ change: ObjectChange<Book>) -> Bool { change.contains(\.title) }
///     }
///
/// Called once for each change, before it is made, if there are listeners: `onWillChange`,
/// `onDidChange` or a reference. Either all of them are notified, before and after, or none.
/// Property tracking, live queries and `store.commits` are not affected, and listeners are always notified of deletion.
public protocol ChangeNotificationFiltering: PersistentModel {
  /// The class itself.
  associatedtype Announced: PersistentModel
  /// Whether listeners receive this change. Called on the object's isolation, before the change is made.
  func announces(_ change: ObjectChange<Announced>) -> Bool
}

extension PersistentModel {
  /// Calls `body` before each change of this object: the object and the rest of its context still read as before.
  ///
  /// Called synchronously on the object's isolation, while the change is being made. Ends with the token.
  public func onWillChange(
    file: String = #fileID, line: Int = #line, _ body: @escaping (ObjectChange<Self>) -> Void
  ) -> ChangeToken {
    listen(.willSet, SourcePlace(file, line), body)
  }

  /// Calls `body` after each change of this object: the object and the rest of its context read as after it.
  ///
  /// Called synchronously on the object's isolation, while the change is being made, once for each change. Ends with
  /// the token.
  public func onDidChange(
    file: String = #fileID, line: Int = #line, _ body: @escaping (ObjectChange<Self>) -> Void
  ) -> ChangeToken {
    listen(.didSet, SourcePlace(file, line), body)
  }

  private func listen(
    _ moment: Moment, _ place: SourcePlace, _ body: @escaping (ObjectChange<Self>) -> Void
  ) -> ChangeToken {
    let listener = Listener<_Announcement>(place, isBefore: moment == .willSet) { announcement in
      guard announcement.moment == moment, let model = announcement.model as? Self else { return }
      body(ObjectChange(model: model, announcement: announcement))
    }
    _listen(listener)
    return ChangeToken(listener)
  }

  /// Holds the listener weakly.
  package func _listen(_ listener: Listener<_Announcement>) { QuireModel.listen(listener, to: self) }
}

extension _Announcement {
  /// Whether this change is one of `model`.
  package func isOf(_ model: some PersistentModel) -> Bool { self.model === model }

  package func change<Model: PersistentModel>(of model: Model) -> ObjectChange<Model> {
    ObjectChange(model: model, announcement: self)
  }
}

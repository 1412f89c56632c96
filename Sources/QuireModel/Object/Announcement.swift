public import Observation
public import QuireRow

/// One change of one object, as its listeners receive it: made before the change, delivered before and after it.
///
/// Held by generated setters in between. There is none if the object has no listeners.
public final class _Announcement {
  let model: any PersistentModel
  /// Whether the object is being deleted.
  package let isVanishing: Bool
  let keyPaths: [AnyKeyPath]
  private(set) var moment = Moment.willSet
  /// The listeners that are being notified, and how far that has come.
  private var listeners: Listeners<_Announcement>?
  private var next = 0
  /// The values, if one property is assigned.
  private let values: (old: Any, new: Any)?
  /// The object as it was before; its values cannot change any more.
  private let before: AnyObject?
  /// The row that provides the new values, until the change is made.
  private let row: AnyObject?
  /// Those of `keyPaths` that are relationships.
  private let relationships: Set<AnyKeyPath>

  fileprivate init(
    _ model: any PersistentModel, _ keyPaths: [AnyKeyPath], isVanishing: Bool = false,
    values: (old: Any, new: Any)? = nil, before: AnyObject? = nil, row: AnyObject? = nil,
    relationships: Set<AnyKeyPath> = []
  ) {
    self.model = model
    self.isVanishing = isVanishing
    self.keyPaths = keyPaths
    self.values = values
    self.before = before
    self.row = row
    self.relationships = relationships
  }

  package var isBefore: Bool { moment == .willSet }

  func old<Model: PersistentModel, Value>(_ property: KeyPath<Model, Value>) -> Value? {
    if isVanishing { return (model as? Model)?[keyPath: property] }
    guard keyPaths.contains(property) else { return nil }
    if let values { return values.old as? Value }
    return (before as? Model)?[keyPath: property]
  }

  func new<Model: PersistentModel, Value>(_ property: KeyPath<Model, Value>) -> Value? {
    guard keyPaths.contains(property) else { return nil }
    if let values { return values.new as? Value }
    if moment == .didSet { return (model as? Model)?[keyPath: property] }
    return relationships.contains(property) ? nil : (row as? Model)?[keyPath: property]
  }

  /// Whether the model wants this change delivered.
  private var isAnnounced: Bool {
    guard !isVanishing, let model = model as? any ChangeNotificationFiltering else { return true }
    func ask<M: ChangeNotificationFiltering>(_ model: M) -> Bool {
      guard let announced = model as? M.Announced else { return true }
      return model.announces(ObjectChange(model: announced, announcement: self))
    }
    return ask(model)
  }

  /// Notifies all current listeners.
  func tell(_ moment: Moment) {
    self.moment = moment
    listeners = tracking(ifOf: model)?.listeners
    next = 0
    tellRest()
  }

  /// Notifies the remaining listeners; also from inside a notification, if a listener advances its context.
  func tellRest() {
    while let all = listeners, next < all.count {
      next += 1
      all.tell(self, at: next - 1)
    }
    listeners = nil
  }

  // MARK: Creation

  /// For an assignment; nil if there are no listeners.
  static func ofValue(_ model: any PersistentModel, _ keyPath: AnyKeyPath, _ old: Any, _ new: Any) -> _Announcement? {
    _Announcement(model, [keyPath], values: (old, new)).unlessSilent
  }

  /// For properties about to be taken from `row`, or relationships about to be assigned.
  static func of(_ model: any PersistentModel, _ properties: [Int], row: AnyObject? = nil) -> _Announcement? {
    guard let tracking = tracking(ifOf: model), tracking.listeners.isAny else { return nil }
    let all = definitions(of: model)
    let changing = properties.filter(all.indices.contains)
    let relationships = changing.filter { all[$0].isRelationship }
    return _Announcement(
      model, changing.map { all[$0].keyPath }, before: copy(of: model, lists: relationships), row: row,
      relationships: Set(relationships.map { all[$0].keyPath })
    ).unlessSilent
  }

  static func ofVanishing(_ model: any PersistentModel) -> _Announcement? {
    guard let tracking = tracking(ifOf: model), tracking.listeners.isAny else { return nil }
    return _Announcement(model, [], isVanishing: true)
  }

  private static func definitions(of model: any PersistentModel) -> [(keyPath: AnyKeyPath, isRelationship: Bool)] {
    if let entity = model._quireState.owner?.entity(of: model) {
      return entity.properties.map { ($0.keyPath, $0.toOne != nil || $0.toMany != nil) }
    }
    return type(of: model)._quireDefinition.properties.map { property in
      if case .value = property.kind { (property.keyPath, false) } else { (property.keyPath, true) }
    }
  }

  private var unlessSilent: _Announcement? { isAnnounced ? self : nil }

  /// A separate object with the same values, which loads its relationships as the original does.
  private static func copy(of model: any PersistentModel, lists: [Int]) -> AnyObject {
    func copy<M: PersistentModel>(_ model: M) -> M {
      var state = ModelState()
      if let owner = model._quireState.owner { state = ModelState(owner: owner, key: model._quireState.key) }
      let copy = M.vacant(state)
      copy._quireAdopt(.max, from: model)
      for property in lists {
        guard let list = model._quireLink(property).list, list.detached == nil else { continue }
        var link = Link()
        link.object = ToManyList(keys: list.keys)  // the list itself is about to change in place
        copy._quireSetLink(property, link)
      }
      return copy
    }
    return copy(model)
  }
}

/// An assignment whose listeners were notified before it, and what they will receive after it.
@frozen public struct _Told {
  @usableFromInline let announcement: _Announcement?
  @inlinable init(_ announcement: _Announcement?) { self.announcement = announcement }
}

extension _Quire {
  /// Notifies listeners and trackers that a property is about to be assigned.
  ///
  /// - Parameter property: Its number, recorded as edited once more: an observer may have saved the earlier edits, and
  ///   the new value is not among them. Nil for a property that is not stored.
  /// - Returns: Nil if an observer has deleted the object: then it must not be assigned, and the next `save()` reports
  ///   it.
  @inlinable public static func willSet<Model: PersistentModel, Value>(
    _ model: Model, _ property: Int?, _ keyPath: KeyPath<Model, Value>, from old: @autoclosure () -> Value,
    to new: Value
  ) -> _Told? {
    guard let tracking = model._quireState.tracking else { return _Told(nil) }
    var announcement: _Announcement?
    if tracking.isListenedTo {
      announcement = announce(model, keyPath, old(), new)
      if let property, !edit(model, property) { return nil }
    }
    tracking.registrar.willSet(model, keyPath: keyPath)
    if let property, !edit(model, property) { return nil }
    return _Told(announcement)
  }
}

@usableFromInline func announce(
  _ model: any PersistentModel, _ keyPath: AnyKeyPath, _ old: Any, _ new: Any
) -> _Announcement? {
  let announcement = _Announcement.ofValue(model, keyPath, old, new)
  announcement?.tell(.willSet)
  return announcement
}

extension _Quire {
  /// Notifies trackers and listeners that a property was assigned.
  @inlinable public static func didSet<Model: PersistentModel>(
    _ model: Model, _ keyPath: KeyPath<Model, some Any>, _ told: _Told
  ) {
    guard let tracking = model._quireState.tracking else { return }
    tracking.registrar.didSet(model, keyPath: keyPath)
    if let announcement = told.announcement { tellDidSet(announcement) }
  }
}

@usableFromInline func tellDidSet(_ announcement: _Announcement) { announcement.tell(.didSet) }

extension PersistentModel {
  /// Whether the object has listeners, in addition to trackers of its properties.
  var isListenedTo: Bool { _quireState.tracking?.listeners.isAny ?? false }
}

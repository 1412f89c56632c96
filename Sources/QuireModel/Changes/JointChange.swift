import QuireRow

/// Relationships that change at once, such as `book.author` and the lists of both authors, and their notifications.
///
/// All observers are notified before anything changes, then everything changes, then they are notified again: none sees
/// one side without the other. Observers may assign, save and roll back, so what is about to change is determined again
/// after each has been notified, until it changes nothing whose observers were not notified:
///
///     var change = JointChange()
///     while change.willChange(places()) {}
///     …                                       // the change itself, without calling code that is not Quire's
///     change.didChange()
struct JointChange {
  private var notified: [(place: ListPlace, announcement: _Announcement?)] = []
  private var names: Set<ListPlace.Name> = []

  /// Notifies the observers of those places that were not notified yet.
  ///
  /// - Returns: Whether there were any: their code may have changed anything.
  mutating func willChange(_ places: [ListPlace]) -> Bool {
    var hasNotified = false
    for place in places where place.model._quireRowState.hasTracking && names.insert(place.name).inserted {
      hasNotified = true
      let announcement = _Announcement.of(place.model, [place.property])
      notified.append((place, announcement))
      announcement?.tell(.willSet)
      place.model._quireTell(place.property, .willSet)
    }
    return hasNotified
  }

  func didChange() {
    for (place, _) in notified { place.model._quireTell(place.property, .didSet) }
    for (_, announcement) in notified { announcement?.tell(.didSet) }
  }
}

/// Notifies observers of one relationship's change before and after making it.
func telling(_ model: any PersistentModel, _ property: Int, _ change: () -> Void) {
  guard model._quireRowState.hasTracking else { return change() }
  var notifications = JointChange()
  _ = notifications.willChange([ListPlace(model: model, property: property)])
  change()
  notifications.didChange()
}

/// The long lists of a context that were read last, with their objects.
///
/// A list holds keys. To find the objects of a long one again for `author.books[i]` in a loop, and for each
/// `author.books.append(book)`, would cost its length times a look-up. Only a few lists' objects are held, and they are let
/// go of before the sweeper looks for objects that nothing else holds.
final class ShownLists: ContextPart {
  private var lists: [ToManyList] = []
  private static let most = 4
  /// Counts the times that one of them was read or edited.
  private var times: UInt = 0
  /// That number when the sweeper came last.
  private var timesBefore: UInt = 0

  /// The objects of a list, if it is one of them.
  func targets<Target: AnyObject>(of list: ToManyList, _: Target.Type) -> [Target]? {
    guard let shown = list.shown, shown.areThere(pending) else { return nil }
    times &+= 1
    list.shown?.lastTime = times
    return (shown.targets as? TargetArray<Target>)?.targets
  }

  /// Holds the objects of a list that was just read, until some others have been.
  func show<Target: PersistentModel>(_ targets: [Target], _ model: some PersistentModel, _ property: Int) {
    if targets.count < ShownTargets.shortest || core.following.move != nil { return }
    guard let entity = entity(of: model), let side = entity.properties[property].toMany, side.order == nil,
      let list = model._quireLink(property).list, list.keys.count == targets.count
    else { return }
    forget { $0 === list || $0.shown == nil }
    if lists.count == ShownLists.most {
      let oldest = lists.map { $0.shown?.lastTime ?? 0 }.min()
      forget { $0.shown?.lastTime == oldest }
    }
    times &+= 1
    list.shown = ShownTargets(TargetArray(targets), of: maps[side.target], pending, at: times)
    lists.append(list)
  }

  /// Called by the sweeper. In a context of no actor that is at each save: a list that was read since the last one is kept
  /// there, because a loop that appends and saves would otherwise read it from the file each time.
  func letGo() {
    let before = core.following.hasTurns ? times : timesBefore
    forget { ($0.shown?.lastTime ?? 0) <= before }
    timesBefore = times
  }

  /// Runs the body, in which unsaved objects get rows: the lists still have their objects then.
  func keeping(_ body: () -> Void) {
    let kept = lists.filter { $0.shown?.areThere(pending) == true }
    body()
    for list in kept { list.shown = list.shown?.asOf(pending) }
  }

  func forget(where isOver: (ToManyList) -> Bool = { _ in true }) {
    if lists.isEmpty { return }
    for list in lists where isOver(list) { list.shown = nil }
    lists.removeAll { $0.shown == nil }
  }
}

/// The objects of one of the lists that were read last; see ``ShownLists``.
struct ShownTargets {
  let targets: any AnyTargetArray
  private let map: IdentityMap
  private let departures: Int
  private let unsaved: PendingChanges.InsertedVersion
  /// When the list was last read, by its context's count.
  var lastTime: UInt

  /// Shorter lists are found again as fast.
  static let shortest = 8

  init(_ targets: any AnyTargetArray, of map: IdentityMap, _ pending: borrowing PendingChanges, at time: UInt) {
    lastTime = time
    self.targets = targets
    self.map = map
    departures = map.departures
    unsaved = pending.insertedVersion
  }

  /// The same objects, of which none has left the context until now.
  func asOf(_ pending: borrowing PendingChanges) -> ShownTargets {
    ShownTargets(targets, of: map, pending, at: lastTime)
  }

  /// Whether none of the objects can have left the context.
  func areThere(_ pending: borrowing PendingChanges) -> Bool {
    map.departures == departures && pending.insertedVersion == unsaved
  }
}

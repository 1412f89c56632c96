import QuireRow
import QuireSQLite

/// One step of a context, from its commit to a later one: everything is computed, and nothing is shown yet.
///
/// Its stages are prepare, notify before, apply, notify after. Observers that asked for notification *before* the
/// change are called while everything shows the old commit; all others when objects, lists and live queries show the
/// new one.
final class Transition {
  let number: Int64
  @exclusivity(unchecked) var refreshed: [Refresh] = []
  @exclusivity(unchecked) var gone: [any PersistentModel] = []
  @exclusivity(unchecked) var lists: [ListStep] = []
  @exclusivity(unchecked) var followers: [any CommitFollower] = []
  /// Rows that did not decode earlier, and now decode or are gone.
  var readable: [Readable] = []
  /// Objects deleted by the context's own save: they stay in the map until the step is applied, for code that reads
  /// before it.
  var removed: [any PersistentModel] = []
  var advance: SnapshotReader.Advance?
  /// The context's own commit, with a position that keeps the resulting state.
  var own: (commit: Commit, place: SnapshotReader)?
  var batch: CommitBatch?
  /// The context's count of reads when affected objects were last searched for.
  var reads = 0
  @exclusivity(unchecked) var isApplied = false
  /// Changes that object listeners were notified of before, and must be notified of after.
  @exclusivity(unchecked) var announcements: [_Announcement] = []
  /// The objects that have left the map, if anything may read them: they are still those of the old values.
  var left: [RowName: AnyObject] = [:]
  @exclusivity(unchecked) var announced = Cursor()
  @exclusivity(unchecked) var told = Cursor()

  init(number: Int64) { self.number = number }

  /// The progress of the notifications. Stored here and not in a loop, because an observer may fetch or save in the
  /// middle.
  struct Cursor {
    var announcements = 0
    var refreshed = 0
    /// Properties of the current object still to be notified; nil before the first.
    var properties: PropertyMask?
    var lists = 0
    var gone = 0
    var followers = 0
  }

  enum Notification {
    case property(any PersistentModel, Int)
    /// All changes of one object, before those of its properties.
    case object(any PersistentModel, PropertyMask, row: any PersistentModel)
    case list(ListStep)
    case gone(any PersistentModel)
    case announcement(_Announcement)
    case follower(any CommitFollower)
  }

  /// The next notification; nil when all were sent.
  func next(_ moment: Moment) -> Notification? {
    var cursor = moment == .willSet ? announced : told
    defer { if moment == .willSet { announced = cursor } else { told = cursor } }
    if moment == .didSet, cursor.announcements < announcements.count {
      defer { cursor.announcements += 1 }
      return .announcement(announcements[cursor.announcements])
    }
    while cursor.refreshed < refreshed.count {
      let refresh = refreshed[cursor.refreshed]
      guard let left = cursor.properties else {
        cursor.properties = refresh.properties
        if moment == .willSet { return .object(refresh.model, refresh.properties, row: refresh.row) }
        continue
      }
      if left != 0 {
        cursor.properties = left & (left - 1)
        return .property(refresh.model, left.trailingZeroBitCount)
      }
      cursor.refreshed += 1
      cursor.properties = nil
    }
    if cursor.lists < lists.count {
      defer { cursor.lists += 1 }
      let list = lists[cursor.lists]
      return moment == .willSet ? .list(list) : .property(list.model, list.property)
    }
    if moment == .willSet, cursor.gone < gone.count {
      defer { cursor.gone += 1 }
      return .gone(gone[cursor.gone])
    }
    if cursor.followers < followers.count {
      defer { cursor.followers += 1 }
      return .follower(followers[cursor.followers])
    }
    return nil
  }

  struct Refresh {
    let model: any PersistentModel
    let row: any PersistentModel
    let properties: PropertyMask
    /// Whether the values are unsaved edits that a transaction restores.
    var isPutBack = false
    /// Whether they are references, edited or not, that lead to other objects of the same keys.
    var isRenewed = false
  }

  /// Whether its changes have no observers: then it runs no foreign code.
  var isSilent: Bool {
    func isUnobserved(_ model: any PersistentModel) -> Bool { model._quireState.tracking == nil }
    return followers.isEmpty && refreshed.allSatisfy { isUnobserved($0.model) }
      && lists.allSatisfy { isUnobserved($0.model) } && gone.allSatisfy(isUnobserved)
  }

  struct Readable {
    let entity: Int
    let key: Int64
    /// The stand-in that becomes the row's object.
    let object: (any PersistentModel)?
  }

  struct ListStep {
    let model: any PersistentModel
    let property: Int
    /// The keys when the step was computed: any difference at its application was edited meanwhile.
    let was: [Int64]
    let keys: [Int64]

    /// The keys to show, including later edits.
    func keys(from now: [Int64]) -> [Int64] {
      if now == was { return keys }
      let (edited, before) = (Set(now), Set(was))
      return ToManyList.keys(
        keys, adding: edited.subtracting(before).sorted(), removing: before.subtracting(edited))
    }
  }
}

extension Transition.ListStep {
  init(_ place: ListPlace, was: [Int64], keys: [Int64]) {
    self.init(model: place.model, property: place.property, was: was, keys: keys)
  }
}

import QuireRow
import QuireSQLite

/// One step of a context, from the commit it stands at to a later one, with everything computed and nothing shown yet.
///
/// Prepare, announce, apply, tell: who asked to hear *before* hears while everything stands at the old commit,
/// everyone else when objects, lists and live queries all stand at the new one.
struct Transition {
  var number: Int64
  var refreshed: [Refresh] = []
  var gone: [any PersistentModel] = []
  var lists: [ListStep] = []
  var followers: [any CommitFollower] = []
  /// Rows that did not decode and do now, or are gone.
  var readable: [Readable] = []
  /// Objects its own save deleted: in the map until it is applied, so that who reads before finds them.
  var removed: [any PersistentModel] = []
  var advance: SnapshotReader.Advance?
  /// A save of the context's own, with a position that keeps what it leads to.
  var own: (commit: Commit, place: SnapshotReader)?
  var batch: CommitBatch?
  /// The context's count of reads when the objects concerned were last looked for.
  var reads = 0
  var isApplied = false
  /// What listeners of objects have been told is coming, and are to be told has come.
  var announcements: [_Announcement] = []
  var announced = Cursor()
  var told = Cursor()

  /// How far telling has come. Kept here and not in a loop, because an observer may fetch or save in the middle of it.
  struct Cursor {
    var announcements = 0
    var refreshed = 0
    /// Properties of the current object that are still to be told; nil before the first.
    var properties: UInt64?
    var lists = 0
    var gone = 0
    var followers = 0
  }

  enum Notification {
    case property(any PersistentModel, Int)
    /// All that changes of one object, before its properties.
    case object(any PersistentModel, UInt64, row: any PersistentModel)
    case list(ListStep)
    case gone(any PersistentModel)
    case announcement(_Announcement)
    case follower(any CommitFollower)
  }

  /// The next to be told; nil when all have been.
  mutating func next(_ moment: Moment) -> Notification? {
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
    let properties: UInt64
    /// Whether the values are unsaved edits that a transaction puts back.
    var isPutBack = false
  }

  /// Whether what it changes has no observers: then it runs no foreign code.
  var isSilent: Bool {
    func isUnobserved(_ model: any PersistentModel) -> Bool { model._quireState.tracking == nil }
    return followers.isEmpty && refreshed.allSatisfy { isUnobserved($0.model) }
      && lists.allSatisfy { isUnobserved($0.model) } && gone.allSatisfy(isUnobserved)
  }

  struct Readable {
    let entity: Int
    let key: Int64
    /// What stood for the row, which is its object now.
    let object: (any PersistentModel)?
  }

  struct ListStep {
    let model: any PersistentModel
    let property: Int
    /// As it was when the step was computed: what differs from that when it is taken was edited meanwhile.
    let was: [Int64]
    let keys: [Int64]

    /// The keys to show, with what was edited since.
    func keys(from now: [Int64]) -> [Int64] {
      if now == was { return keys }
      let added = now.filter { !was.contains($0) && !keys.contains($0) }
      return ToManyList.sorted(keys.filter { now.contains($0) || !was.contains($0) } + added)
    }
  }
}

extension Transition.ListStep {
  init(_ place: ListPlace, was: [Int64], keys: [Int64]) {
    self.init(model: place.model, property: place.property, was: was, keys: keys)
  }
}

import QuireRow

/// What unsaved edits add to the lists of one relationship and take from them: for many lists, in one pass over the edits.
struct UnsavedLinks {
  private let side: ToManySide
  private let core: ContextCore
  /// By the object whose list it is.
  private var added: [Int64: [Int64]] = [:]
  private var removed: [Int64: Set<Int64>] = [:]
  /// Objects in whose lists deleted ones are left out that unsaved edits have linked.
  private var hiding: Set<Int64> = []

  init(of side: ToManySide, _ core: ContextCore) {
    self.side = side
    self.core = core
    switch side.via {
    case .foreignKey(let foreignKey):
      for child in core.pending.edits where core.entity(of: child)?.index == side.target { add(child, foreignKey) }
      for place in core.pending.insertedPlaces[side.target] {
        if let child = core.pending.inserted[place] { add(child, foreignKey) }
      }
      for child in core.pending.deleted where core.entity(of: child)?.index == side.target {
        let isEdited = core.pending.edited(of: child) & 1 << PropertyMask(foreignKey) != 0
        if isEdited, let parent = child._quireLink(foreignKey).currentKey { hiding.insert(parent) }
      }
    case .join(let join, let ownSide):
      for (pair, isLinked) in core.pending.joinEdits.changes where pair.join == join.index {
        let (own, other) = ownSide == .first ? (pair.first, pair.second) : (pair.second, pair.first)
        if !isLinked {
          removed[own, default: []].insert(other)
        } else if (core.registered(side.target, other) as? any PersistentModel)?.isDeleted == true {
          hiding.insert(own)
        } else {
          added[own, default: []].append(other)
        }
      }
    }
  }

  private mutating func add(_ child: any PersistentModel, _ foreignKey: Int) {
    guard !child.isDeleted, let parent = child._quireLink(foreignKey).currentKey else { return }
    added[parent, default: []].append(child._quireRowState.key)
  }

  /// Whether the object's list has more once deletions are taken back.
  func hidesLinks(of model: any PersistentModel) -> Bool { hiding.contains(model._quireRowState.key) }

  /// A list as its context shows it: the file's content with unsaved edits.
  func list(_ committed: [Int64], of model: any PersistentModel) -> [Int64] {
    let own = model._quireRowState.key
    let kept = committed.filter { key in
      guard let child = core.registered(side.target, key) as? any PersistentModel else { return true }
      if child.isDeleted { return false }
      guard case .foreignKey(let foreignKey) = side.via else { return true }
      return child._quireLink(foreignKey).currentKey == own
    }
    return ToManyList.keys(kept, adding: added[own] ?? [], removing: removed[own] ?? [])
  }
}

/// Unsaved changes of a context: edits, new and deleted objects, links, and the errors that the next save will throw.
///
/// A value: a copy is what was pending at that moment, except for the values that edited objects had then
/// (``PendingCheckpoint``).
struct PendingChanges {
  struct InsertedVersion: Equatable {
    let firstKey: Int64
    let discarded: Int
  }

  /// Saved objects with unsaved edits, in the order of their first edit.
  var edits: [any PersistentModel] = []
  /// Unsaved objects by arrival; the key of each gives its position. Nil for one that was deleted again.
  private(set) var inserted: [(any PersistentModel)?] = []
  /// Changes when one of them is not among them any longer, at latest before its key is used again.
  var insertedVersion: InsertedVersion { InsertedVersion(firstKey: firstTemporaryKey, discarded: discarded) }
  private var discarded = 0
  /// Their positions in `inserted` by entity, including those of objects that were deleted again.
  var insertedPlaces: [[Int]]
  /// The key of the first unsaved object. Increases with every save and rollback: a temporary key is never used twice.
  private(set) var firstTemporaryKey: Int64
  var deleted: [any PersistentModel] = []
  /// What was edited of deleted objects before their deletion: it is an edit again if that is canceled.
  private var editsOfDeleted: [ObjectIdentifier: PropertyMask] = [:]
  /// The links of objects that were deleted before they were saved, in the same way.
  private var linksOfDeleted: [ObjectIdentifier: [KeptLink]] = [:]
  /// Objects that were deleted here, and whose rows others have deleted then: unsaved references may still lead to them.
  private(set) var deletedByOthersToo: [any PersistentModel] = []
  /// Whether an object that had a row is unsaved again: references from before then have the key of the row that is gone.
  var hasRenewed = false
  var cascades = Cascades()
  var joinEdits = JoinEdits()
  /// Lists changed by unsaved edits, for `rollback()`. One may be there several times.
  private(set) var editedLists: [ListPlace] = []
  /// Assignments to deleted objects, and the like.
  var deferredErrors: [String] = []
  /// The values that edited objects had before, if a save must refuse to overwrite others' changes.
  var conflicts = Conflicts()

  /// - Parameters:
  ///   - insertedPlaces: Empty, for each entity. Given, so that a context that inserts nothing allocates nothing.
  ///   - places: How many keys are given away, to objects that follow or are gone.
  init(firstTemporaryKey: Int64, insertedPlaces: [[Int]], places: Int = 0) {
    self.firstTemporaryKey = firstTemporaryKey
    self.insertedPlaces = insertedPlaces
    inserted = Array(repeating: nil, count: places)
  }

  /// Takes in a new object; returns its temporary key.
  mutating func insert(_ model: any PersistentModel, of entity: Int) -> Int64 {
    let place = inserted.count
    insertedPlaces[entity].append(place)
    inserted.append(model)
    return firstTemporaryKey &+ Int64(place)
  }

  /// Takes in the copy of an object that is new in another context, at its place there, which is given away.
  mutating func insert(_ model: any PersistentModel, of entity: Int, at place: Int) {
    insertedPlaces[entity].append(place)
    inserted[place] = model
  }

  /// Notes that a list is changed by unsaved edits: once for many in a row.
  mutating func edited(_ list: ListPlace) {
    if let last = editedLists.last, last.model === list.model, last.property == list.property { return }
    editedLists.append(list)
  }

  /// All of them equal the file.
  mutating func forgetEditedLists() {
    if !editedLists.isEmpty { editedLists.removeAll() }
  }

  /// A new object is deleted, or has a row now.
  mutating func discard(_ place: Int) {
    if !inserted.indices.contains(place) { return }
    inserted[place] = nil
    discarded += 1
  }

  /// How many objects and links a save would write.
  var count: Int {
    edits.count { !$0.isDeleted } + inserted.count { $0 != nil } + deleted.count + joinEdits.count
  }

  /// Whether the key was that of an object which was deleted before its first save: no row can have it.
  func isDiscarded(_ key: Int64) -> Bool {
    let (place, overflow) = key.subtractingReportingOverflow(firstTemporaryKey)
    return !overflow && inserted.indices.contains(Int(place)) && inserted[Int(place)] == nil
  }

  mutating func forgetInserted() {
    if !linksOfDeleted.isEmpty { linksOfDeleted.removeAll() }
    if inserted.isEmpty { return }
    firstTemporaryKey &+= Int64(inserted.count)
    inserted.removeAll()
    for entity in insertedPlaces.indices { insertedPlaces[entity].removeAll() }
  }

  /// Whether an object is deleted here and its row is not: others have not deleted it either.
  func isDeletionUnsaved(of model: any PersistentModel) -> Bool { deleted.contains { $0 === model } }

  /// The properties that unsaved edits have set, of a deleted object before its deletion.
  func edited(of model: any PersistentModel) -> PropertyMask {
    let state = model._quireRowState
    if editsOfDeleted.isEmpty || !state.flags.contains(.deleted) { return state.dirty }
    return state.dirty | (editsOfDeleted[ObjectIdentifier(model)] ?? 0)
  }

  /// Notes what was edited of an object that is deleted here.
  mutating func keepEdits(_ properties: PropertyMask, of model: any PersistentModel) {
    if properties == 0, editsOfDeleted.isEmpty { return }
    editsOfDeleted[ObjectIdentifier(model)] = properties == 0 ? nil : properties
  }

  mutating func keepLinks(_ links: [KeptLink], of model: any PersistentModel, adding: Bool = false) {
    if links.isEmpty, linksOfDeleted.isEmpty { return }
    let others = adding ? linksOfDeleted[ObjectIdentifier(model)] ?? [] : []
    linksOfDeleted[ObjectIdentifier(model)] = others + links
  }

  mutating func takeLinks(of model: any PersistentModel) -> [KeptLink] {
    linksOfDeleted.isEmpty ? [] : linksOfDeleted.removeValue(forKey: ObjectIdentifier(model)) ?? []
  }

  /// Objects are not deleted here any longer: their rows are gone, or are to stay.
  mutating func forgetDeleted(_ models: [any PersistentModel]) {
    if deleted.isEmpty || models.isEmpty { return }
    let names = Set(models.map { ObjectIdentifier($0) })
    deleted.removeAll { names.contains(ObjectIdentifier($0)) }
    for name in names where !editsOfDeleted.isEmpty { editsOfDeleted[name] = nil }
    cascades.commit = -1  // as many as were looked at may be others
  }

  mutating func forgetDeleted() {
    deleted.removeAll()
    if !editsOfDeleted.isEmpty { editsOfDeleted.removeAll() }
  }

  /// Objects whose rows are gone have nothing to save, and those deleted here nothing to delete: a row that comes back under
  /// the key of one is another one's.
  mutating func rowsAreGone(_ models: [any PersistentModel]) {
    edits.removeAll { $0._quireRowState.dirty == 0 }
    if deleted.isEmpty { return }
    deletedByOthersToo += models.filter { isDeletionUnsaved(of: $0) }
    forgetDeleted(models)
  }

  /// No unsaved reference leads to them any longer.
  mutating func forgetDeletedByOthersToo() {
    if !deletedByOthersToo.isEmpty { deletedByOthersToo.removeAll() }
  }

  /// What has been saved is not pending any longer: of the objects that are not, only the lists are forgotten with the
  /// last of them.
  mutating func forgetSaved() {
    edits.removeAll { $0._quireRowState.dirty == 0 }
    if !inserted.contains(where: { $0 != nil }) { forgetInserted() }
    guard edits.isEmpty, inserted.isEmpty, deleted.isEmpty, joinEdits.isEmpty else { return }
    editedLists.removeAll()
    hasRenewed = false
    forgetDeletedByOthersToo()
    cascades = Cascades()
    if conflicts.lost.isEmpty { conflicts.removeAll() }
  }

  mutating func removeAll() {
    forgetInserted()
    self = PendingChanges(firstTemporaryKey: firstTemporaryKey, insertedPlaces: insertedPlaces)
  }

  /// Skips the temporary keys that were allocated since this copy was made.
  mutating func skipKeys(of later: PendingChanges) {
    let given = later.firstTemporaryKey &+ Int64(later.inserted.count) &- firstTemporaryKey
    while Int64(inserted.count) < given { inserted.append(nil) }
  }
}

extension [any PersistentModel] {
  /// Those that are still deleted here. Of a list, so that the rest of what is pending is not copied for it.
  var stillDeleted: Set<ObjectIdentifier> { isEmpty ? [] : Set(filter(\.isDeleted).map { ObjectIdentifier($0) }) }
}

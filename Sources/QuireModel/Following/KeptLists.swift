import QuireRow

/// The lists of deleted objects that are or were observed.
///
/// No row says any longer what is in such a list. It keeps what it had; an object that is deleted later leaves it, and its
/// observers are notified of that, as they are of any change.
struct KeptLists {
  private var owners = DeletedObjects()

  var isEmpty: Bool { owners.isEmpty }

  /// Notes a deleted object, if it is observed and has lists: when it leaves its context, and when it is read afterwards.
  mutating func note(_ model: any PersistentModel, _ core: ContextCore) {
    guard model._quireRowState.flags.contains([.tracked, .deleted]), let entity = core.entity(of: model),
      entity.relationships.contains(where: { model._quireLink($0).list?.keys.isEmpty == false })
    else { return }
    owners.add(model, RowName(entity: entity.index, key: model._quireRowState.key))
  }

  /// The lists that are not empty. Those of an object whose deletion was taken back are an object's of the context again.
  func places(_ core: ContextCore) -> [ListPlace] {
    owners.present.flatMap { name, model -> [ListPlace] in
      guard contains(model, core), let entity = core.entity(of: model) else { return [] }
      return entity.relationships.compactMap { property in
        guard model._quireLink(property).list?.keys.isEmpty == false else { return nil }
        return ListPlace(model: model, property: property)
      }
    }
  }

  /// Whether the object has left its context.
  func contains(_ model: any PersistentModel, _ core: ContextCore) -> Bool {
    guard model.isDeleted, let entity = core.entity(of: model) else { return false }
    return core.registered(entity.index, model._quireRowState.key) !== model
  }
}

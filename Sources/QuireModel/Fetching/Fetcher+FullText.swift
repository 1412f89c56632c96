import Foundation
import QuireRow

/// Full-text search: the rows the index finds, by rank, filtered by the rest of the descriptor.
extension Fetcher {
  /// The entity, and the keys that a descriptor with a full-text query finds, in order.
  func found<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> (entity: Entity, keys: [Int64]) {
    let query = try ResolvedQuery(descriptor, in: try requireStore())
    return (query.entity, try query.select.asked { try keys(query.select.statement()) })
  }
}

extension ModelContainer {
  /// Rebuilds the full-text index of a model. Needed if a program has replaced rows by `INSERT OR REPLACE`, which
  /// leaves the words of the replaced rows in the index.
  ///
  /// Live results of searches see it with the next change of the model's rows.
  public func rebuildFullText<Model: PersistentModel>(of type: Model.Type) throws {
    let entity = try store.requireEntity(for: type)
    guard let index = entity.fullText else {
      throw ModelError.query("\(entity.name) has no #FullText, so it has no full-text index to rebuild")
    }
    try writeSQL { _ = try $0.connection.execute(index.rebuilding()) }
  }
}

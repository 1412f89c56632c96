import Foundation
import QuireRow
import QuireSQLite

/// Full-text search: the rows the index finds, by rank, filtered by the rest of the descriptor.
extension Fetcher {
  /// The entity, and the keys that a descriptor with a full-text query finds, in order.
  func found<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>, _ text: FullTextQuery) throws -> (
    entity: Entity, keys: [Int64]
  ) {
    let query = try ResolvedQuery(
      Model.self, where: descriptor.predicate, sortBy: descriptor.sortBy, limit: nil, offset: 0, in: try requireStore())
    guard let index = query.entity.fullText else {
      throw ModelError.query("\(query.entity.name) declares no #FullText, so its words cannot be searched")
    }
    return try read { connection in
      let ranked = try ranked(text, index, on: connection)
      let filtered = try query.select.statement(forKeys: ranked)
      let accepted = try connection.query(filtered.text, filtered.bindings).rows.compactMap { row -> Int64? in
        if case .integer(let key)? = row.first { key } else { nil }
      }
      let isRanked = descriptor.sortBy.isEmpty
      let keys = isRanked ? { kept in ranked.filter(kept.contains) }(Set(accepted)) : accepted
      let page = keys.dropFirst(max(0, descriptor.fetchOffset ?? 0)).prefix(max(0, descriptor.fetchLimit ?? .max))
      return (query.entity, Array(page))
    }
  }

  private func ranked(_ text: FullTextQuery, _ index: FullTextIndex, on connection: Connection) throws -> [Int64] {
    let name = try quoted(identifier: index.table)
    do throws(SQLiteError) {
      return try connection.query(
        "SELECT rowid FROM \(name) WHERE \(name) MATCH ? ORDER BY rank, rowid", [.text(text.expression)]
      ).rows.compactMap { if case .integer(let key)? = $0.first { key } else { nil } }
    } catch {
      if error.isCorrupt || error.isIndexMismatch { throw error }
      throw ModelError.query("the full-text query ‘\(text.expression)’ cannot be asked: \(error.message)")
    }
  }
}

extension ModelContainer {
  /// Rebuilds the full-text index of a model. Needed if a program has replaced rows by `INSERT OR REPLACE`, which
  /// leaves the words of the replaced rows in the index.
  public func rebuildFullText<Model: PersistentModel>(of type: Model.Type) throws {
    let entity = try store.requireEntity(for: type)
    guard let index = entity.fullText else {
      throw ModelError.query("\(entity.name) has no #FullText, so it has no full-text index to rebuild")
    }
    try writeSQL { _ = try $0.connection.execute(index.rebuilding()) }
  }
}

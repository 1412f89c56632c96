import Foundation
package import QuireSQLite

/// What stays of the objects that a wanted schema does not have.
package enum KeptNames: Hashable, Sendable {
  /// Everything: tables, virtual tables, views, triggers, indexes unless they read a dropped column, and the defaults of
  /// columns. Models say nothing about any of these.
  case all
  /// Objects whose name one of these patterns matches, and what belongs to such a table. `*` stands for any characters,
  /// `?` for one. The case of A to Z is ignored.
  case matching([String])

  package static let none = matching([])

  package func contains(_ name: SQLName) -> Bool {
    switch self {
    case .all: true
    case .matching(let patterns):
      patterns.contains {
        SQLName($0) == name || fnmatch(SQLName.folded($0), SQLName.folded(name.text), FNM_NOESCAPE) == 0
      }
    }
  }

  /// - Parameter target: The wanted schema. What belongs to a table that it has is kept only by its own name.
  func contains(_ object: DatabaseSchema.Object, besides target: DatabaseSchema) -> Bool {
    contains(object.name) || target[table: object.table] == nil && contains(object.table)
  }
}

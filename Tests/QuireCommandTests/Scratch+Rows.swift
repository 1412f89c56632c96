import Foundation
import Quire

extension Scratch {
  /// Rows of a database that `quire` has left behind, as text, read without changing it.
  func rows(_ name: String, _ sql: String) throws -> [String] {
    let database = try Database(DatabaseConfiguration(.file(path(name)), access: .readOnly))
    defer { try? database.close() }
    return try database.read { try $0.query(sql, []).rows.map { $0.map { "\($0)" }.joined(separator: "|") } }
  }
}

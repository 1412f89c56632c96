import QuireModel
import QuireSQLite

/// Whole rows of a table in changes, wanted as long as somebody listens for differences of a live result.
struct WholeRows {
  private var interest: InterestToken?

  /// - Returns: whether they had not been wanted: then other changes concern the result than before.
  mutating func want(of table: String, in owner: Owner) -> Bool {
    if interest != nil { return false }
    interest = owner.store?.database.addInterest(Interest(table: table))
    return true
  }

  /// - Returns: whether they had been wanted.
  @discardableResult mutating func letGo() -> Bool {
    defer { interest = nil }
    return interest != nil
  }
}

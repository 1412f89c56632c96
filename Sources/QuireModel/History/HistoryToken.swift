public import QuireRow

/// A place in a store's history.
public protocol HistoryToken: Comparable, Hashable, Codable, Sendable {}

/// A place in the change log of a file: that of the last change of a transaction. Keep it anywhere, as JSON for instance.
public struct DefaultHistoryToken: HistoryToken {
  /// The same for who goes on from there: `store.commits(after: token.commitToken)`.
  public let commitToken: CommitToken

  /// The token of a commit, as history's.
  public init(_ token: CommitToken) { commitToken = token }

  public init(from decoder: any Decoder) throws { commitToken = try CommitToken(from: decoder) }
  public func encode(to encoder: any Encoder) throws { try commitToken.encode(to: encoder) }

  /// By place; tokens of two logs are never of one history, and sorted by their logs.
  public static func < (a: DefaultHistoryToken, b: DefaultHistoryToken) -> Bool {
    let (a, b) = (a.commitToken, b.commitToken)
    return a.log == b.log ? a.place < b.place : a.log.uuidString < b.log.uuidString
  }
}

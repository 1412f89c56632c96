public import QuireRow

/// A position in a store's history.
public protocol HistoryToken: Comparable, Hashable, Codable, Sendable {}

/// A position in a file's change log: that of the last change of a transaction. `Codable`, so it can be stored
/// anywhere.
public struct DefaultHistoryToken: HistoryToken {
  /// The same position in the change log, to continue from there: `store.commits(after: token.commitToken)`.
  public let commitToken: CommitToken

  /// The history token of a commit.
  public init(_ token: CommitToken) { commitToken = token }

  public init(from decoder: any Decoder) throws { commitToken = try CommitToken(from: decoder) }
  public func encode(to encoder: any Encoder) throws { try commitToken.encode(to: encoder) }

  /// By position. Tokens of two logs belong to different histories and are ordered by their logs.
  public static func < (a: DefaultHistoryToken, b: DefaultHistoryToken) -> Bool {
    let (a, b) = (a.commitToken, b.commitToken)
    return a.log == b.log ? a.place < b.place : a.log.uuidString < b.log.uuidString
  }
}

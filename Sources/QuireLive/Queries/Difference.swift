/// The changes of one transition in a live result, by index.
///
/// Indices of `delete` and a move's `from` refer to the result before; those of `insert`, a move's `to` and `update` to
/// the result after. Removing everything that leaves, highest index first, and then inserting everything that comes,
/// lowest first, turns the one into the other.
///
/// A row that came or left because of others, as at the end of a limited result, is included with its current values.
public struct Difference<Row>: Sequence {
  /// The commit that the result shows now.
  public let commit: Int64
  /// What leaves, comes, moves and stays with other values; iterating over the difference gives the same.
  public let changes: [Change]

  /// One row that came, left, moved or has other values.
  public enum Change {
    /// A row came; the index is in the result after.
    case insert(at: Int, new: Row)
    /// A row left; the index is in the result before.
    case delete(at: Int, old: Row)
    /// A row moved from an index before to an index after; its values may have changed too.
    case move(from: Int, to: Int, old: Row, new: Row)
    /// A row has other values at its index, which is the one in the result after.
    case update(at: Int, old: Row, new: Row)
  }

  public func makeIterator() -> IndexingIterator<[Change]> { changes.makeIterator() }

  /// The same changes, with converted rows. Inlined, because a caller knows more of the types than this does.
  @inline(__always) func map<Other>(_ row: (Row) -> Other) -> Difference<Other> {
    var converted: [Difference<Other>.Change] = []
    converted.reserveCapacity(changes.count)
    for change in changes {
      switch change {
      case .insert(let at, let new): converted.append(.insert(at: at, new: row(new)))
      case .delete(let at, let old): converted.append(.delete(at: at, old: row(old)))
      case .move(let from, let to, let old, let new):
        converted.append(.move(from: from, to: to, old: row(old), new: row(new)))
      case .update(let at, let old, let new): converted.append(.update(at: at, old: row(old), new: row(new)))
      }
    }
    return Difference<Other>(commit: commit, changes: converted)
  }
}

extension Difference: Sendable where Row: Sendable {}
extension Difference.Change: Sendable where Row: Sendable {}

/// The changes of one transition in a result with sections.
///
/// Places of `delete`, `deleteSection` and a move's `from` refer to the result before, all others to the result after.
/// Applied in the following order, the changes turn the one into the other: remove rows, highest place first; remove
/// sections, highest first, each empty by then; insert sections, lowest first; insert rows, lowest place first.
/// Sections do not move: their keys order them.
public struct SectionDifference<Key, Row>: Sequence {
  /// The commit that the result shows now.
  public let commit: Int64
  public let changes: [Change]

  /// The index of a section, and of a row in it. Places are ordered by section, then by row.
  public struct Place: Hashable, Sendable, Comparable {
    public var section: Int
    public var row: Int

    public init(section: Int, row: Int) {
      self.section = section
      self.row = row
    }

    public static func < (a: Place, b: Place) -> Bool { (a.section, a.row) < (b.section, b.row) }
  }

  public enum Change {
    case deleteSection(at: Int, key: Key)
    case insertSection(at: Int, key: Key)
    case insert(at: Place, new: Row)
    case delete(at: Place, old: Row)
    /// Within its section, or from one to another.
    case move(from: Place, to: Place, old: Row, new: Row)
    case update(at: Place, old: Row, new: Row)
  }

  public func makeIterator() -> IndexingIterator<[Change]> { changes.makeIterator() }
}

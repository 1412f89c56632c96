import QuireModel

extension LiveSections {
  /// The changes of one transition in a result with sections.
  ///
  /// Places of `delete`, `deleteSection` and a move's `from` refer to the result before, all others to the result after.
  /// Applied in the following order, the changes turn the one into the other: remove rows, highest place first; remove
  /// sections, highest first, each empty by then; insert sections, lowest first; insert rows, lowest place first.
  /// Sections do not move: their keys order them.
  public struct Difference: Sequence {
    /// The commit that the result shows now.
    public let commit: Int64
    /// The changes, in the order in which they turn the result before into the one after.
    public let changes: [Change]

    /// The index of a section, and of a row in it. Places are ordered by section, then by row.
    public struct Place: Hashable, Sendable, Comparable {
      /// The index of the section.
      public var section: Int
      /// The index of the row in its section.
      public var row: Int

      /// The place of a row.
      public init(section: Int, row: Int) {
        self.section = section
        self.row = row
      }

      public static func < (a: Place, b: Place) -> Bool { (a.section, a.row) < (b.section, b.row) }
    }

    /// One section or row that came or left, or a row that moved or has other values.
    public enum Change {
      /// A section went; its rows were deleted or moved before.
      case deleteSection(at: Int, key: Key)
      /// A section came; its rows are inserted or moved afterwards.
      case insertSection(at: Int, key: Key)
      /// A row came.
      case insert(at: Place, new: ModelRow<Model>)
      /// A row left.
      case delete(at: Place, old: ModelRow<Model>)
      /// Within its section, or from one to another.
      case move(from: Place, to: Place, old: ModelRow<Model>, new: ModelRow<Model>)
      /// A row has other values where it stands, which is its place in the result after.
      case update(at: Place, old: ModelRow<Model>, new: ModelRow<Model>)
    }

    public func makeIterator() -> IndexingIterator<[Change]> { changes.makeIterator() }
  }
}

extension LiveSections.Difference: Sendable where Key: Sendable {}
extension LiveSections.Difference.Change: Sendable where Key: Sendable {}

public import Observation
import QuireModel

extension LiveSections {
  /// One section: its key, and its objects in order as a collection.
  ///
  /// Code that reads the collection is invalidated when this section's rows or their order change, and not by other
  /// sections. The object stays the same as long as its section exists; when the section is removed, it becomes empty and
  /// stays so.
  public final class Section: Observable, RandomAccessCollection, Identifiable {
    /// The value of the property that the rows of the section share.
    public let key: Key
    private let context: ModelContext
    private let entity: Entity
    private(set) var shown: [Int64]
    private let registrar = ObservationRegistrar()
    /// Made once: a generic class builds a key path again at every use.
    private let keysPath: KeyPath<Section, [Int64]> = \.keys

    init(_ key: Key, _ keys: [Int64], of entity: Entity, in context: ModelContext) {
      self.key = key
      self.entity = entity
      self.context = context
      shown = keys
    }

    private var keys: [Int64] {
      registrar.access(self, keyPath: keysPath)
      return shown
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { keys.count }

    public subscript(index: Int) -> Model { context.owner.fetcher.element(entity, keys, at: index) }

    func willChange() { registrar.willSet(self, keyPath: keysPath) }
    func take(_ keys: [Int64]) { shown = keys }
    func didChange() { registrar.didSet(self, keyPath: keysPath) }
  }
}

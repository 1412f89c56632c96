public import QuireRow

extension _Quire {
  /// Storage of a property whose type the macro cannot know: a value, or one side of a relationship.
  @frozen public struct Slot<Wrapped> {
    /// A plain value; nil for relationships of objects that are in a context.
    public var value: Wrapped?
    public var link: Link

    /// Disfavored, so that models and arrays of models become links: see the other initializers of this name.
    @_disfavoredOverload @inlinable public init(_ value: Wrapped) {
      self.value = value
      self.link = Link()
    }

    @inlinable public init(link: Link) {
      self.value = nil
      self.link = link
    }
  }

  /// One object's side of a relationship.
  ///
  /// To-one: the key, and the target once it has been read. The reference is strong, because the side with the foreign
  /// key may hold the other one; the reverse side holds keys, so that no graph keeps itself alive. To-many: a
  /// ``ToManyList``.
  @frozen public struct Link {
    /// The foreign key; meaningful when `hasKey`.
    public var key: Int64
    public var hasKey: Bool
    /// The target of a to-one, or the ``ToManyList`` of a to-many, once loaded.
    public var object: AnyObject?

    @inlinable public init() {
      key = 0
      hasKey = false
      object = nil
    }

    @inlinable public init(key: Int64?) {
      self.key = key ?? 0
      hasKey = key != nil
      object = nil
    }

    @inlinable public init(to target: some PersistentModel) {
      key = target._quireState.key
      hasKey = true
      object = target
    }
  }
}

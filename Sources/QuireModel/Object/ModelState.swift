public import QuireRow

extension _Quire {
  /// A set of a model's properties, a bit for each by its position.
  public typealias PropertyMask = UInt128

  /// An object's state as a row: 49 bytes inside the object, without an allocation.
  ///
  /// Belongs to the isolation of the object's context. Accesses are kept short (read a field, write a field), because
  /// other code of the object reads it too.
  @frozen public struct ModelState {
    /// Made when the object is first tracked; nil for all others.
    @usableFromInline var tracking: Tracking?
    /// The row's key; below ``firstKey`` while the object has not been saved.
    @usableFromInline var key: Int64 = 0
    /// Properties edited since the last save, by position.
    @usableFromInline var dirty: PropertyMask = 0
    /// The context's core, which objects may hold; nil before insertion.
    @usableFromInline var owner: ContextCore?
    /// The context's tracking monitor: plain memory, because a class reference would cost a retain at every read.
    @usableFromInline var monitor: UnsafeMutablePointer<TrackingMonitor>?
    @usableFromInline var flags: Flags = []

    @inlinable public init() {}

    @usableFromInline init(owner: ContextCore, key: Int64) {
      self.owner = owner
      self.monitor = owner.monitor
      self.key = key
    }

    /// Makes it an unsaved object of that context.
    mutating func join(_ owner: ContextCore, key: Int64) {
      self.owner = owner
      monitor = owner.monitor
      self.key = key
      flags.insert(.inserted)
    }

    /// Removes it from its context; it has no row.
    mutating func leave() {
      owner = nil
      monitor = nil
      flags.remove(.inserted)
    }

    func isOwned(by owner: ContextCore) -> Bool { self.owner === owner }

    /// Makes it the object of a row.
    mutating func saved(as key: Int64) {
      self.key = key
      flags.remove(.inserted)
    }

    @frozen @usableFromInline struct Flags: OptionSet, Sendable {
      @usableFromInline var rawValue: UInt8
      @inlinable init(rawValue: UInt8) { self.rawValue = rawValue }
      /// The object is or was tracked: reads go to the registrar.
      @inlinable static var tracked: Flags { Flags(rawValue: 1) }
      /// Inserted and not yet saved.
      @inlinable static var inserted: Flags { Flags(rawValue: 2) }
      /// Deleted in the context or gone from the file.
      @inlinable static var deleted: Flags { Flags(rawValue: 4) }
      /// The object of a row: neither deleted nor unsaved.
      @inlinable var isSavedAndThere: Bool { rawValue & 6 == 0 }
      /// Among the edits that the autosave at the end of a turn could not save.
      @inlinable static var unsavable: Flags { Flags(rawValue: 16) }
      /// Found by its values among the unsaved objects: the next edit must say so.
      @inlinable static var noted: Flags { Flags(rawValue: 32) }
      /// The object of a row, and nothing waits for its next edit.
      @inlinable var isEditedAlone: Bool { rawValue & 38 == 0 }
      /// Whether something waits for the object's next edit: ``unsavable`` or ``noted``.
      @inlinable var isWaitedFor: Bool { rawValue & 48 != 0 }
      /// Made for a reference whose row does not exist.
      @inlinable static var vacant: Flags { Flags(rawValue: 8) }
    }

    /// Keys below this one belong to unsaved objects; no row may have one.
    @usableFromInline static var firstKey: Int64 { -(1 << 62) }

    /// Whether a read must go to the registrar: reads are being tracked now, or the object was tracked before.
    ///
    /// Changes nothing. It is mutating so that it gets the address of the state: without optimization, a getter of another kind
    /// would copy the state first, which takes two calls.
    @inlinable public var isWatched: Bool {
      mutating get { flags.contains(.tracked) || isTracking(monitor) }
    }
  }

  /// What code that does not know an object's class reads of its state most often: a copy without references. Borrowing
  /// the state from there allocates memory each time.
  @frozen public struct RowState {
    @usableFromInline let key: Int64
    @usableFromInline let dirty: PropertyMask
    @usableFromInline let owner: ObjectIdentifier?
    @usableFromInline let flags: ModelState.Flags
    /// Whether the object has a place for its observers, and for those that refer to it.
    @usableFromInline let hasTracking: Bool

    @inlinable init(
      key: Int64, dirty: PropertyMask, owner: ObjectIdentifier?, flags: ModelState.Flags, hasTracking: Bool
    ) {
      self.key = key
      self.dirty = dirty
      self.owner = owner
      self.flags = flags
      self.hasTracking = hasTracking
    }

    func isOwned(by owner: ContextCore) -> Bool { self.owner == ObjectIdentifier(owner) }
  }
}

/// The positions of a set's properties, lowest first.
func positions(in properties: PropertyMask) -> some Sequence<Int> {
  sequence(state: properties) { left in
    if left == 0 { return nil }
    defer { left &= left - 1 }
    return left.trailingZeroBitCount
  }
}

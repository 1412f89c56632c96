public import QuireRow

extension _Quire {
  /// What an object knows of itself as a row: 41 bytes inside the object, no allocation of its own.
  ///
  /// Belongs to the isolation of the object's context. Accesses are kept short (read a field, write a field), because
  /// the object's other code reads it too.
  @frozen public struct ModelState {
    /// Made when somebody first tracks the object; nil for all others.
    @usableFromInline var tracking: Tracking?
    /// Properties edited since the last save, by position; from 63 on they share the last bit.
    @usableFromInline var dirty: UInt64 = 0
    /// The row's key; below ``firstKey`` while the object has not been saved.
    @usableFromInline var key: Int64 = 0
    /// The context's half that objects may hold; nil before insertion.
    @usableFromInline var owner: ContextCore?
    /// The context's tracking probe: plain memory, because a class reference would cost a retain at every read.
    @usableFromInline var monitor: UnsafeMutablePointer<TrackingMonitor>?
    @usableFromInline var flags: Flags = []

    @inlinable public init() {}

    @usableFromInline init(owner: ContextCore, key: Int64) {
      self.owner = owner
      self.monitor = owner.monitor
      self.key = key
    }

    /// From now on an unsaved object of that context.
    mutating func join(_ owner: ContextCore, key: Int64) {
      self.owner = owner
      monitor = owner.monitor
      self.key = key
      flags.insert(.inserted)
    }

    /// In no context any longer, and without a row.
    mutating func leave() {
      owner = nil
      monitor = nil
      flags.remove(.inserted)
    }

    func isOwned(by owner: ContextCore) -> Bool { self.owner === owner }

    /// A row's object from now on.
    mutating func saved(as key: Int64) {
      self.key = key
      flags.remove(.inserted)
    }

    @frozen @usableFromInline struct Flags: OptionSet, Sendable {
      @usableFromInline var rawValue: UInt8
      @inlinable init(rawValue: UInt8) { self.rawValue = rawValue }
      /// Somebody tracks, or has tracked, this object: reads go to the registrar.
      @inlinable static var tracked: Flags { Flags(rawValue: 1) }
      /// Inserted and not yet saved.
      @inlinable static var inserted: Flags { Flags(rawValue: 2) }
      /// Deleted in the context or gone from the file.
      @inlinable static var deleted: Flags { Flags(rawValue: 4) }
      /// A row's object: neither deleted nor unsaved.
      @inlinable var isSavedAndThere: Bool { rawValue & 6 == 0 }
      /// Among the edits that the end of a turn could not save.
      @inlinable static var unsavable: Flags { Flags(rawValue: 16) }
      /// Made for a reference whose row is not there.
      @inlinable static var vacant: Flags { Flags(rawValue: 8) }
    }

    /// Keys below this one belong to objects that have not been saved; no row may have one.
    @usableFromInline static var firstKey: Int64 { -(1 << 62) }

    /// Whether a read has to go to the registrar: somebody is tracking right now, or has tracked this object.
    @inlinable public var isWatched: Bool { flags.contains(.tracked) || isTracking(monitor) }
  }
}

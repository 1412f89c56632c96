public import Observation
public import QuireRow
import Synchronization

/// An object's observation registrar, made when somebody first tracks the object.
///
/// A class of its own: `ObservationRegistrar` is a resilient struct, and a copy of one out of an optional costs a
/// retain pair at every access.
@usableFromInline final class Tracking {
  @usableFromInline let registrar = ObservationRegistrar()
  /// Set on the stand-ins whose reads are noted, to learn what a key path of several steps reads.
  var trace: PathTrace?
  /// Whom changes of the object are told, besides those who track its properties.
  var listeners = Listeners<_Announcement>()
  @usableFromInline var isListenedTo: Bool { listeners.isAny }
  /// While the object is in no context: objects in none that were given it as a target.
  var referrers: [any PersistentModel] = []
  @usableFromInline init() { Tracking.made.add() }
  deinit { Tracking.made.remove() }

  /// How many there are: what a test counts.
  static let made = Count()
}

/// A context's answer to "is somebody tracking reads right now?", in plain memory that its objects point to.
@usableFromInline struct TrackingMonitor {
  /// Owned: a reference would be counted at every read.
  var probe: Unmanaged<TrackingDetector>
  /// Whether the probe has been seen by a tracking since it was made.
  var used = false
  /// Where the probe does not work: every read counts as tracked.
  let isBlind = !TrackingDetector.works
  /// While a predicate is evaluated: what is only looked at there, nobody depends on.
  var isMuted = false

  init() { probe = .passRetained(TrackingDetector()) }
}

/// Finds out whether code runs inside `withObservationTracking`, without a lock, a thread-local or a private symbol.
///
/// `ObservationRegistrar.access` does nothing but one look at a thread-local unless a tracking is active; if one is, it
/// hashes the key path it is given. This one's key path has an argument whose hash function notes that it was called.
/// That leans on behaviour and not on a documented contract, so ``TrackingDetector/works`` tests it once per process, and where it
/// does not hold every object gets its registrar at the first read.
final class TrackingDetector: Observable {
  /// Outlives the probe where a tracking holds the key path: that hashes it again when it is installed or fires, on
  /// whatever thread, when the context may be gone.
  final class Hit: Sendable {
    let flag = Atomic(false)
  }

  struct Key: Hashable, Sendable {
    let hit: Hit
    static func == (a: Key, b: Key) -> Bool { a.hit === b.hit }
    func hash(into hasher: inout Hasher) {
      hit.flag.store(true, ordering: .relaxed)
      hasher.combine(1)
    }
  }

  let registrar = ObservationRegistrar()
  private let hit: Hit
  private let path: KeyPath<TrackingDetector, Int>

  init() {
    let hit = Hit()
    self.hit = hit
    path = \TrackingDetector[Key(hit: hit)]
  }

  subscript(key: Key) -> Int { 0 }

  @inline(never) func check() -> Bool {
    hit.flag.store(false, ordering: .relaxed)  // installing a tracking hashes again, outside of it
    registrar.access(self, keyPath: path)
    return hit.flag.load(ordering: .relaxed)
  }

  /// Of this process's standard library.
  static let works: Bool = {
    let probe = TrackingDetector()
    let inside = withObservationTracking {
      probe.check()
    } onChange: {
    }
    return inside && !probe.check()
  }()
}

/// Whether reads are being tracked; always so for an object without a context, which has no probe.
@inlinable func isTracking(_ monitor: UnsafeMutablePointer<TrackingMonitor>?) -> Bool {
  guard let monitor else { return true }
  return checks(monitor)
}

@usableFromInline func checks(_ monitor: UnsafeMutablePointer<TrackingMonitor>) -> Bool {
  if monitor.pointee.isMuted { return false }
  if monitor.pointee.probe._withUnsafeGuaranteedRef({ $0.check() }) {
    monitor.pointee.used = true
    return true
  }
  if monitor.pointee.used { retire(monitor) }
  return monitor.pointee.isBlind
}

/// Replaces a probe that trackings have seen: an immortal one would keep the closure of every tracking that never
/// fires. Wakes nobody.
private func retire(_ monitor: UnsafeMutablePointer<TrackingMonitor>) {
  monitor.pointee.probe.release()
  monitor.pointee.probe = .passRetained(TrackingDetector())
  monitor.pointee.used = false
}

extension _Quire {
  /// Notes a tracked read with the object's registrar, made now if this is the first.
  public static func access<Model: PersistentModel>(_ model: Model, _ keyPath: KeyPath<Model, some Any>) {
    if let monitor = model._quireState.monitor, monitor.pointee.isMuted { return }
    let tracking = tracking(of: model)
    tracking.trace?.read(keyPath)
    tracking.registrar.access(model, keyPath: keyPath)
  }
}

/// The object's registrar and listeners, if it has any.
func tracking(ifOf model: any PersistentModel) -> Tracking? { model._quireState.tracking }

func listen(_ listener: Listener<_Announcement>, to model: some PersistentModel) {
  tracking(of: model).listeners.add(listener)
}

/// Until it is in a context, an object knows who refers to it.
func note(referrer: any PersistentModel, of target: some PersistentModel) {
  let tracking = tracking(of: target)
  if tracking.referrers.last !== referrer { tracking.referrers.append(referrer) }
}

private func tracking(of model: some PersistentModel) -> Tracking {
  if let tracking = model._quireState.tracking { return tracking }
  let made = Tracking()
  model._quireState.tracking = made
  model._quireState.flags.insert(.tracked)
  return made
}

extension _Quire {
  /// Tells the object's registrar, if it has one, of a change of the property at `keyPath`.
  @inlinable public static func tell<Model: PersistentModel>(
    _ model: Model, _ keyPath: KeyPath<Model, some Any>, _ moment: Moment
  ) {
    guard let tracking = model._quireState.tracking else { return }
    switch moment {
    case .willSet: tracking.registrar.willSet(model, keyPath: keyPath)
    case .didSet: tracking.registrar.didSet(model, keyPath: keyPath)
    }
  }
}

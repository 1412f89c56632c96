public import Observation
public import QuireRow
import QuireSQLite
import Synchronization

/// An object's observation registrar, made when the object is first tracked.
///
/// A separate class, because `ObservationRegistrar` is a resilient struct: copying one out of an optional costs a
/// retain pair at every access.
@usableFromInline final class Tracking {
  @usableFromInline let registrar = ObservationRegistrar()
  /// Set on stand-ins whose reads are recorded, to find what a key path of several steps reads.
  var trace: PathTrace?
  /// Listeners of the object's changes, in addition to trackers of its properties.
  var listeners = Listeners<_Announcement>()
  @usableFromInline var isListenedTo: Bool { listeners.isAny }
  /// While the object is in no context: unregistered objects that were assigned this one as a target.
  var referrers: [any PersistentModel] = []
  @usableFromInline init() { Tracking.made.add() }
  deinit { Tracking.made.remove() }

  /// The number of registrars made, for tests.
  static let made = Count()
}

/// A context's answer to "are reads being tracked right now?", in plain memory that its objects point to.
@usableFromInline struct TrackingMonitor {
  /// Unmanaged: a reference would be counted at every read.
  var probe: Unmanaged<TrackingDetector>
  /// Whether any tracking has used the probe since it was made.
  var used = false
  /// True if the probe does not work: then every read counts as tracked.
  let isBlind = !TrackingDetector.works
  /// True while a predicate is evaluated: reads for that are not tracked.
  var isMuted = false

  init() { probe = .passRetained(SpareDetectors.take()) }

  /// The context is gone.
  func close() {
    let detector = probe.takeRetainedValue()
    if !used { SpareDetectors.keep(detector) }
  }
}

/// Detectors of contexts that are gone, if no tracking holds their key path: making a key path takes 4 µs, as long as
/// the rest of a context.
private enum SpareDetectors {
  private static let spare = Locked<[TrackingDetector]>([])

  static func take() -> TrackingDetector { spare.withLock { $0.popLast() } ?? TrackingDetector() }

  static func keep(_ detector: TrackingDetector) {
    spare.withLock { if $0.count < 64 { $0.append(detector) } }
  }
}

/// Detects whether code runs inside `withObservationTracking`, without a lock, a thread-local or a private symbol.
///
/// `ObservationRegistrar.access` only reads a thread-local unless a tracking is active; if one is, it hashes the key
/// path it is given. The detector's key path has an argument whose hash function records the call. This relies on
/// behavior that is not documented, so ``TrackingDetector/works`` tests it once per process; if it does not hold, every
/// object gets its registrar at the first read.
final class TrackingDetector: Observable {
  /// Outlives the probe if a tracking holds the key path: the tracking hashes it again when it is installed or fires,
  /// on any thread, possibly after the context is released.
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
    hit.flag.store(false, ordering: .relaxed)  // installing a tracking hashes the key path again
    registrar.access(self, keyPath: path)
    return hit.flag.load(ordering: .relaxed)
  }

  /// Tested once, for this process's standard library.
  static let works: Bool = {
    let probe = TrackingDetector()
    let inside = withObservationTracking {
      probe.check()
    } onChange: {
    }
    return inside && !probe.check()
  }()
}

/// Whether reads are being tracked; always true for an object without a context, which has no probe.
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

/// Replaces a probe that trackings have used: a probe that lived forever would keep the closure of every tracking that
/// never fires. Triggers no observers.
private func retire(_ monitor: UnsafeMutablePointer<TrackingMonitor>) {
  monitor.pointee.probe.release()
  monitor.pointee.probe = .passRetained(TrackingDetector())
  monitor.pointee.used = false
}

extension _Quire {
  /// Records a tracked read in the object's registrar, which is made now if this is the first.
  public static func access<Model: PersistentModel>(_ model: Model, _ keyPath: KeyPath<Model, some Any>) {
    if let monitor = model._quireState.monitor, monitor.pointee.isMuted { return }
    let tracking = tracking(of: model)
    tracking.trace?.read(keyPath)
    tracking.registrar.access(model, keyPath: keyPath)
  }
}

/// The object's registrar and listeners, if it has any.
func tracking(ifOf model: any PersistentModel) -> Tracking? {
  model._quireRowState.hasTracking ? model._quireState.tracking : nil
}

func listen(_ listener: Listener<_Announcement>, to model: some PersistentModel) {
  tracking(of: model).listeners.add(listener)
}

/// Records who refers to an unregistered object, until it is in a context.
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
  /// Notifies the object's registrar, if it has one, of a change of the property at `keyPath`.
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

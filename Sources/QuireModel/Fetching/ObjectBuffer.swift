/// Collects objects of one class. The array does not know the class, because an array of a generic parameter looks up
/// its own type at every append.
struct ObjectBuffer: ~Copyable {
  private var start: UnsafeMutablePointer<AnyObject>?
  private var count = 0
  private var capacity = 0

  init() {}

  mutating func append(_ object: AnyObject) {
    if count == capacity { grow() }
    start.unsafelyUnwrapped.advanced(by: count).initialize(to: object)
    count += 1
  }

  private mutating func grow() {
    capacity = max(16, capacity * 2)
    let larger = UnsafeMutablePointer<AnyObject>.allocate(capacity: capacity)
    if let start {
      larger.moveInitialize(from: start, count: count)
      start.deallocate()
    }
    start = larger
  }

  /// The array with its class: references are moved, none is counted.
  consuming func models<Model: AnyObject>() -> [Model] {
    guard let start else { return [] }
    let count = count
    self.count = 0
    return [Model](unsafeUninitializedCapacity: count) { models, initialized in
      if let place = models.baseAddress {
        start.withMemoryRebound(to: Model.self, capacity: count) { place.moveInitialize(from: $0, count: count) }
      }
      initialized = count
    }
  }

  deinit {
    start?.deinitialize(count: count)
    start?.deallocate()
  }
}

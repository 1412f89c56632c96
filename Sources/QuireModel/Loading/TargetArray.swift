/// The targets of a to-many as the array that is handed out, for code that does not know their class.
protocol AnyTargetArray: AnyObject {
  /// Objects of one class, which ``TargetArray`` knows.
  var objects: [AnyObject] { get }
  /// Returns whether the object is of their class.
  func insert(_ object: any PersistentModel, at position: Int) -> Bool
  func remove(at position: Int)
}

final class TargetArray<Target: AnyObject>: AnyTargetArray {
  private(set) var targets: [Target]

  init(_ targets: [Target]) { self.targets = targets }

  var objects: [AnyObject] { targets }

  func insert(_ object: any PersistentModel, at position: Int) -> Bool {
    guard let target = object as? Target else { return false }
    targets.insert(target, at: position)
    return true
  }

  func remove(at position: Int) { targets.remove(at: position) }
}

/// How many elements two arrays have in common at their beginnings, and how many of the rest at their ends.
struct CommonEnds {
  private(set) var before = 0
  private(set) var after = 0

  /// - Parameter equal: Whether the elements at two positions are the same.
  init(_ old: Int, _ new: Int, _ equal: (Int, Int) -> Bool) {
    let shorter = min(old, new)
    while before < shorter, equal(before, before) { before += 1 }
    while after < shorter - before, equal(old - after - 1, new - after - 1) { after += 1 }
  }

  /// Compares addresses, because looking at each object of a long list costs many times as much.
  init<Target: AnyObject>(_ old: [Target], _ new: [Target]) {
    self = old.withUnsafeBytes { old in
      new.withUnsafeBytes { new in
        let size = MemoryLayout<UInt>.size
        return CommonEnds(old.count / size, new.count / size) {
          old.load(fromByteOffset: $0 * size, as: UInt.self) == new.load(fromByteOffset: $1 * size, as: UInt.self)
        }
      }
    }
  }

  /// The elements of an array of that length that are not common to both.
  func rest(of count: Int) -> Range<Int> { before..<count - after }
}

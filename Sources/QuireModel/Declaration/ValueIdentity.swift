public import Foundation
public import QuireRow

// Two values are identical if the file stores the same bytes for both. Swift considers two spellings of é equal
// although their bytes differ; the same holds for every type that contains text.

extension _Quire {
  /// Whether an assignment changes a plain property, or a row's value differs from its object's.
  @inlinable public static func differs<V: Equatable>(_ a: V, _ b: V) -> Bool { differs(plain: a, b) }
  @inlinable public static func differs(_ a: String, _ b: String) -> Bool { differs(text: a, b) }
  @inlinable public static func differs(_ a: String?, _ b: String?) -> Bool { differs(text: a, b) }
  @inlinable public static func differs(_ a: Data, _ b: Data) -> Bool { a != b }
  @inlinable public static func differs(_ a: Data?, _ b: Data?) -> Bool { a != b }
  @_disfavoredOverload @inlinable public static func differs<V>(_ a: V, _ b: V) -> Bool { true }

  // The same for a type that the macro knows by its name, so that the type checker has less to try.

  @inlinable public static func differs<V: Equatable>(plain a: V, _ b: V) -> Bool {
    a != b || (!_isPOD(V.self) && textsDiffer(a, b))
  }
  @inlinable public static func differs(text a: String, _ b: String) -> Bool {
    a != b || !a.utf8.elementsEqual(b.utf8)
  }
  @inlinable public static func differs(text a: String?, _ b: String?) -> Bool {
    if let a, let b { differs(text: a, b) } else { a != b }
  }
  @inlinable public static func differs(data a: Data, _ b: Data) -> Bool { a != b }
  @inlinable public static func differs(data a: Data?, _ b: Data?) -> Bool { a != b }
}

extension _Quire {
  /// The properties in which two objects differ, found by a call for each property.
  @frozen public struct PropertyDifference {
    public var properties: PropertyMask = 0

    @inlinable public init() {}

    @inlinable public mutating func plain<V: Equatable>(_ position: Int, _ a: inout V, _ b: inout V) {
      add(position, if: differs(plain: a, b))
    }
    @inlinable public mutating func text(_ position: Int, _ a: inout String, _ b: inout String) {
      add(position, if: differs(text: a, b))
    }
    @inlinable public mutating func text(_ position: Int, _ a: inout String?, _ b: inout String?) {
      add(position, if: differs(text: a, b))
    }
    @inlinable public mutating func data(_ position: Int, _ a: inout Data, _ b: inout Data) {
      add(position, if: a != b)
    }
    @inlinable public mutating func data(_ position: Int, _ a: inout Data?, _ b: inout Data?) {
      add(position, if: a != b)
    }
    @inlinable public mutating func slot<Form: PropertyForm>(
      _ position: Int, _: Form.Type, _ a: inout Slot<Form.Value>, _ b: inout Slot<Form.Value>
    ) {
      add(position, if: Form.differ(a, b))
    }
    public mutating func slot<V>(_ position: Int, _: UnstorableForm<V>.Type, _ a: inout Slot<V>, _ b: inout Slot<V>) {}

    @inlinable mutating func add(_ position: Int, if isDifferent: Bool) {
      if isDifferent { properties |= 1 << PropertyMask(truncatingIfNeeded: position) }
    }
  }
}

/// Whether two values of a type that may be `Equatable` are identical to the byte; never if the type is not
/// `Equatable`.
package func isIdentical<Value>(_ a: Value, _ b: Value) -> Bool {
  func differs<E: Equatable>(_ a: E) -> Bool { (b as? E).map { _Quire.differs(a, $0) } ?? true }
  guard let a = a as? any Equatable else { return false }
  return !differs(a)
}

/// Whether two values that Swift considers equal contain text of different bytes.
@usableFromInline @inline(never) package func textsDiffer<V>(_ a: V, _ b: V) -> Bool {
  if let a = a as? any StoredValue, let b = b as? any StoredValue {
    return (try? Value(storing: a)) != (try? Value(storing: b))
  }
  let (a, b) = (HeldTexts(of: a), HeldTexts(of: b))
  return a.hasOrder && b.hasOrder ? a.bytes != b.bytes : a.bytes.sorted(by: precedes) != b.bytes.sorted(by: precedes)
}

private func precedes(_ a: [UInt8], _ b: [UInt8]) -> Bool { a.lexicographicallyPrecedes(b) }

/// The texts in a value, except those inside class instances.
private struct HeldTexts {
  var bytes: [[UInt8]] = []
  /// False if a set or dictionary yields them in unspecified order.
  var hasOrder = true

  init(of value: Any) {
    var waiting = [value]
    while let next = waiting.popLast() {
      if let text = next as? any StringProtocol {
        bytes.append(Array(text.utf8))
        continue
      }
      if let elements = next as? any Collection, Self.arePlain(elements) { continue }
      let mirror = Mirror(reflecting: next)
      switch mirror.displayStyle {
      case .class: continue
      case .set, .dictionary: hasOrder = false
      default: break
      }
      waiting.append(contentsOf: mirror.children.map(\.value))
    }
  }

  /// Whether elements are numbers or other plain data, which contain no text.
  private static func arePlain<Elements: Collection>(_ elements: Elements) -> Bool { _isPOD(Elements.Element.self) }
}

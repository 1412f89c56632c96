public import QuireRow

extension _Quire {
  /// Whether a set holds the property at that position.
  @inlinable public static func holds(_ properties: PropertyMask, _ position: Int) -> Bool {
    properties & (1 << PropertyMask(truncatingIfNeeded: position)) != 0
  }

  /// Adds the property at that position to a set.
  @inlinable public static func add(_ position: Int, to properties: inout PropertyMask) {
    properties |= 1 << PropertyMask(truncatingIfNeeded: position)
  }

  /// The index of a parameter; the next call gives the one after it.
  @inlinable public static func next(_ index: inout Int32) -> Int32 {
    defer { index += 1 }
    return index
  }
}

// Names inside the package for what is public for generated code only.

@usableFromInline package typealias PropertyMask = _Quire.PropertyMask
package typealias Slot<Wrapped> = _Quire.Slot<Wrapped>
@usableFromInline package typealias Link = _Quire.Link
package typealias Moment = _Quire.Moment
package typealias ModelState = _Quire.ModelState
package typealias ModelDefinition = _Quire.ModelDefinition
package typealias PropertyDefinition = _Quire.PropertyDefinition
package typealias AttributeDefinition = _Quire.AttributeDefinition
package typealias RelationshipDefinition = _Quire.RelationshipDefinition
package typealias FullTextDefinition = _Quire.FullTextDefinition
package typealias PropertyForm = _Quire.PropertyForm
package typealias ColumnForm = _Quire.ColumnForm
package typealias ProjectedForm = _Quire.ProjectedForm
package typealias ProjectionDefinition = _Quire.ProjectionDefinition
package typealias ProjectionField = _Quire.ProjectionField
package typealias ProjectionOrigin = _Quire.ProjectionOrigin

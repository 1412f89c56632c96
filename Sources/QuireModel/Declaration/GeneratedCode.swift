public import QuireRow

extension _Quire {
  /// Whether a set holds the property at that position.
  @inlinable public static func holds(_ properties: PropertyMask, _ position: Int) -> Bool {
    properties & (1 << PropertyMask(truncatingIfNeeded: position)) != 0
  }

  /// Whether that is the property at that position.
  @inlinable public static func isProperty(_ property: Int, _ position: Int) -> Bool { property == position }

  /// Copies the storage of the property at that position, if the set holds it.
  @inlinable public static func take<Storage>(
    _ properties: PropertyMask, _ position: Int, _ value: inout Storage, to storage: inout Storage
  ) {
    if holds(properties, position) { storage = value }
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

public import QuireRow

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

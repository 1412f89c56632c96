import SwiftSyntax
import SwiftSyntaxMacros

/// `@Projection(groupsOf:)`: the struct as written → checked → its conformance, in an extension, so that the memberwise
/// initializer stays.
struct GroupProjectionMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    projectionConformance(to: "GroupProjection", of: type, declaration, node, in: context) { projection in
      GroupMembers(projection: projection, context: context).declarations
    }
  }
}

/// The members `@Projection(groupsOf:)` adds: a checked struct in, declarations out.
struct GroupMembers {
  let projection: ProjectionSyntax
  let context: any MacroExpansionContext

  var declarations: [String] {
    ["\(projection.access)typealias Model = \(projection.model)", definition, projection.valuesInit]
  }

  /// Each field's part by itself, so that what only the type checker can refuse is refused at the field.
  private var definition: String {
    let model = projection.model
    var lines: [String] = []
    var aggregates = ""
    var parameters: [String] = []
    for (place, field) in projection.fields.enumerated() {
      let type = field.type ?? "Swift.Never"
      let line: String
      switch field.source {
      case .group(let name, let property):
        let path = property.map { "(\($0.trimmedDescription))" } ?? ""
        line = "let value\(place): Quire.GroupAggregate<\(model), \(type)> = .\(name.lowercased())\(path)"
        aggregates += ", value\(place)"
        parameters.append("field\(place): \(type)")
      case .path(let written):
        let path = written?.trimmedDescription ?? "\\\(model).\(field.property.reference)"
        line = "let key = Quire._Quire.groupKey(\\Self.\(field.property.reference), \(path)).field"
        parameters.insert("field\(place): \(type)", at: 0)
      case .related, .computed: continue  // refused
      }
      lines.append(context.placing(line, at: field.property.pattern))
    }
    let values = projection.fields.indices.map { "field\($0)" }.joined(separator: ", ")
    return """
      \(projection.access)static var _quireGroups: Quire._GroupDefinition<Self> {
      \(lines.joined(separator: "\n"))
      return Quire._GroupDefinition(by: key\(aggregates)) { (\(parameters.joined(separator: ", "))) in
      Self(_quireValues: \(values))
      }
      }
      """
  }
}

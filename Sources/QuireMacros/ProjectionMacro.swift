import SwiftSyntax
import SwiftSyntaxMacros

/// `@Projection(of:)`: the struct as written → checked (``ProjectionSyntax``, ``ProjectionRefusal``) → its conformance
/// (``ProjectionMembers``), in an extension, so that the memberwise initializer stays.
struct ProjectionMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    projectionConformance(to: "Projection", of: type, declaration, node, in: context) { projection in
      ProjectionMembers(projection: projection, context: context).declarations
    }
  }
}

/// The extension that makes a struct a projection of one kind or the other: none where it is refused, and told why.
///
/// Nonisolated whatever the module's default: rows are made where the statement runs.
func projectionConformance(
  to name: String, of type: some TypeSyntaxProtocol, _ declaration: some DeclGroupSyntax, _ node: AttributeSyntax,
  in context: some MacroExpansionContext, members: (ProjectionSyntax) -> [String]
) -> [ExtensionDeclSyntax] {
  let refusals = checkProjection(declaration, node)
  for refusal in refusals { context.diagnose(refusal.diagnostic) }
  guard refusals.isEmpty, let written = declaration.as(StructDeclSyntax.self),
    let projection = ProjectionSyntax(written, node, in: context.lexicalContext)
  else { return [] }
  let text = members(projection).joined(separator: "\n")
  let conformance: DeclSyntax = "nonisolated extension \(type.trimmed): Quire.\(raw: name) {\n\(raw: text)\n}"
  return conformance.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
}

/// What `@Projection` reads in its struct: `@From`, `@Count` and their like. By itself each expands to nothing, and outside
/// of a projection is refused.
struct FieldMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    let attributes = context.lexicalContext.first?.asProtocol((any WithAttributesSyntax).self)?.attributes
    if attributes?.first(named: "Projection") == nil {
      context.diagnose(ProjectionRefusal(.outsideProjection(attribute: node.writtenName), at: node).diagnostic)
    }
    return []
  }
}

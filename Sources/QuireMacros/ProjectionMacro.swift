import SwiftSyntax
import SwiftSyntaxMacros

/// `@Projection(of:)`: the struct as written → checked (``ProjectionSyntax``, ``ProjectionRefusal``) → its conformance
/// (``ProjectionMembers``), in an extension, so that the memberwise initialiser stays.
struct ProjectionMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    let refusals = checkProjection(declaration, node)
    for refusal in refusals { context.diagnose(refusal.diagnostic) }
    guard refusals.isEmpty, let written = declaration.as(StructDeclSyntax.self),
      let projection = ProjectionSyntax(written, node, in: context.lexicalContext)
    else { return [] }
    let members = ProjectionMembers(projection: projection, context: context).declarations.joined(separator: "\n")
    // Nonisolated whatever the module's default: rows are made where the statement runs.
    let conformance: DeclSyntax = "nonisolated extension \(type.trimmed): Quire.Projection {\n\(raw: members)\n}"
    return conformance.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
  }
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

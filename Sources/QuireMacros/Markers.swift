import SwiftSyntax
import SwiftSyntaxMacros

// What `@Model` reads in its class. By itself each expands to nothing, and outside of a model is refused.

struct AttributeMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { refuseOutsideModel("@Attribute", at: node, in: context) }
}

struct RelationshipMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { refuseOutsideModel("@Relationship", at: node, in: context) }
}

struct TransientMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { refuseOutsideModel("@Transient", at: node, in: context) }
}

struct IndexMacro: DeclarationMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { refuseOutsideModel("#Index", at: node, in: context) }
}

struct UniqueMacro: DeclarationMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { refuseOutsideModel("#Unique", at: node, in: context) }
}

struct FullTextMacro: DeclarationMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { refuseOutsideModel("#FullText", at: node, in: context) }
}

/// Nothing, after a refusal where the marker does not stand directly in a `@Model` declaration.
private func refuseOutsideModel(
  _ marker: String, at node: some SyntaxProtocol, in context: some MacroExpansionContext
) -> [DeclSyntax] {
  let enclosing = context.lexicalContext.first
  if enclosing?.is(ExtensionDeclSyntax.self) == true {
    // Of which class cannot be seen. What it holds has no storage, so that nothing of it is stored anyway.
    if marker != "@Transient" { context.diagnose(Refusal(.inExtension(attribute: marker), at: node).diagnostic) }
  } else if enclosing?.asProtocol((any WithAttributesSyntax).self)?.attributes.withConditional
    .contains(where: { $0.lastName == "Model" }) != true
  {
    context.diagnose(Refusal(.outsideModel(attribute: marker), at: node).diagnostic)
  }
  return []
}

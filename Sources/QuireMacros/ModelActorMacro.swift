import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@ModelActor`: an actor with a context of its own, which runs where the context belongs.
struct ModelActorMacro {}

extension ModelActorMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let actor = declaration.as(ActorDeclSyntax.self) else {
      let keyword = declaration.introducer
      let fix = Remedy.write("actor", for: keyword)
      context.diagnose(Refusal(.notAnActor, at: keyword, fix: fix).diagnostic)
      return []
    }
    let access = actor.modifiers.modelAccess
    var members: [DeclSyntax] = [
      "\(raw: access)nonisolated let modelExecutor: any Quire.ModelExecutor",
      "\(raw: access)nonisolated let modelContainer: Quire.ModelContainer",
      """
      \(raw: access)nonisolated var unownedExecutor: _Concurrency.UnownedSerialExecutor {
      unsafe modelExecutor.asUnownedSerialExecutor()
      }
      """,
    ]
    if generatesInit(node, actor) {
      members.append(
        """
        \(raw: access)init(modelContainer: Quire.ModelContainer) {
        self.modelExecutor = Quire.DefaultSerialModelExecutor(modelContext: Quire.ModelContext(modelContainer))
        self.modelContainer = modelContainer
        }
        """)
    }
    return members
  }

  /// Not where the source says so, has one itself, or has properties that such an init could not give a value.
  private static func generatesInit(_ node: AttributeSyntax, _ actor: ActorDeclSyntax) -> Bool {
    let isDisabled = node.labeledArguments.contains {
      $0.label?.text == "disableGenerateInit" && $0.expression.trimmedDescription == "true"
    }
    if isDisabled { return false }
    for member in actor.memberBlock.members.map(\.decl) {
      if let initializer = member.as(InitializerDeclSyntax.self) {
        let labels = initializer.signature.parameterClause.parameters.map(\.firstName.text)
        if labels == ["modelContainer"] { return false }
      } else if let variable = member.as(VariableDeclSyntax.self), variable.isStored, !variable.isOfType,
        variable.modifier(.lazy) == nil, variable.attributes.isEmpty
      {
        for binding in variable.bindings where binding.initializer == nil && binding.accessorBlock == nil {
          guard !variable.isConstant, let type = binding.typeAnnotation?.type, unwrapped(type).depth > 0 else {
            return false
          }
        }
      }
    }
    return true
  }
}

extension ModelActorMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard declaration.is(ActorDeclSyntax.self), !protocols.isEmpty else { return [] }
    let conformance: DeclSyntax = "extension \(type.trimmed): Quire.ModelActor {}"
    return conformance.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
  }
}

extension DeclModifierListSyntax {
  /// `public `, `package ` or nothing.
  fileprivate var modelAccess: String {
    if contains(where: { $0.name.tokenKind == .keyword(.public) }) { return "public " }
    return contains(where: { $0.name.tokenKind == .keyword(.package) }) ? "package " : ""
  }
}

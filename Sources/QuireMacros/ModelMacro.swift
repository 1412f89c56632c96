import SwiftSyntax
import SwiftSyntaxMacros

/// `@Model`: the class as written → checked (``ModelSyntax``, ``Refusal``) → its conformance (``ModelMembers``).
///
/// The member role reports what is refused in a class, once; the other roles pass over it in silence, so that what
/// remains compiles and the refusals are all there is to read.
struct ModelMacro: Macro {
  /// What is written here is laid out already; indenting it would take a quarter of the time of an expansion.
  static var formatMode: FormatMode { .disabled }
}

extension ModelMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let written = declaration.as(ClassDeclSyntax.self) else { return [] }
    let inherits = inheritsModel(written, missing: protocols)
    for refusal in checkModel(written, inherits: inherits) { context.diagnose(refusal.diagnostic) }
    guard !inherits, let model = checkedClass(declaration, context) else { return [] }
    return ModelMembers(model: model, names: node.forwarded, context: context).declarations
  }
}

extension ModelMacro: MemberAttributeMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
  ) throws -> [AttributeSyntax] {
    guard let model = checkedClass(declaration, context) else { return [] }
    switch Member(DeclSyntax(member)) {
    case .stored(let property):
      // The compiler lets no macro write accessors for a constant: it is stored as it is, without observers.
      // A property is refused if another one has the name of its storage.
      guard !property.isConstant, let position = model.position(of: property.name),
        model.position(of: property.storage) == nil
      else { return [] }
      return [AttributeSyntax(verbatim: "Quire._Stored(\(position))")]
    case .transient: return [AttributeSyntax(verbatim: "Quire._Observed")]
    case .other:
      guard let initializer = member.as(InitializerDeclSyntax.self) else { return [] }
      let assigned = initializer.assignedReferences(of: model)
      if assigned.isEmpty { return [] }
      return [AttributeSyntax(verbatim: "Quire._Initializer(\(assigned.map { "\"\($0)\"" }.joined(separator: ", ")))")]
    case .refused: return []
    }
  }
}

extension ModelMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard declaration.is(ClassDeclSyntax.self) else {
      // Not in the member role: the compiler asks an enum for no members.
      context.diagnose(notAClass(declaration).diagnostic)
      return []
    }
    guard checkedClass(declaration, context) != nil, misses(protocols) else { return [] }
    // Under `-default-isolation MainActor` this also makes the class nonisolated, as predicates on it must be.
    // Not `Observation.Observable`, which would go wrong for a model called Observation.
    let conformance: DeclSyntax =
      "nonisolated extension \(type.trimmed): Quire.Observable, Quire.PersistentModel {}"
    return conformance.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
  }
}

/// Whether the class still lacks the conformance.
private func misses(_ protocols: [TypeSyntax]) -> Bool {
  protocols.contains { $0.trimmedDescription.hasSuffix("PersistentModel") }
}

/// Whether the class has the conformance already and does not say so itself: its superclass is a model.
private func inheritsModel(_ declaration: ClassDeclSyntax, missing protocols: [TypeSyntax]) -> Bool {
  let isWritten = declaration.inheritanceClause?.inheritedTypes.contains {
    $0.type.trimmedDescription.hasSuffix("PersistentModel")
  }
  return !misses(protocols) && isWritten != true
}

/// The class, unless it is refused as a whole.
private func checkedClass(_ declaration: some DeclGroupSyntax, _ context: some MacroExpansionContext) -> ModelSyntax? {
  guard let declaration = declaration.as(ClassDeclSyntax.self), checkClass(declaration, inherits: false).isEmpty
  else { return nil }
  return ModelSyntax(declaration, in: context.lexicalContext)
}

import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_Stored(N)`, written by `@Model` on a stored property: its private storage and its accessors.
struct StoredMacro: AccessorMacro, PeerMacro {
  static var formatMode: FormatMode { .disabled }

  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let property = PropertyAccessors(declaration, position: position(node), in: context) else { return [] }
    return property.storage
  }

  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    guard let property = PropertyAccessors(declaration, position: position(node), in: context) else { return [] }
    return property.accessors
  }

  private static func position(_ node: AttributeSyntax) -> String? {
    node.labeledArguments.first?.expression.trimmedDescription
  }
}

/// `@_Observed`, written by `@Model` on a transient property: as `@_Stored`, and no edit of the row.
struct ObservedMacro: AccessorMacro, PeerMacro {
  static var formatMode: FormatMode { .disabled }

  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let property = PropertyAccessors(declaration, position: nil, in: context) else { return [] }
    return property.storage
  }

  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    guard let property = PropertyAccessors(declaration, position: nil, in: context) else { return [] }
    return property.accessors
  }
}

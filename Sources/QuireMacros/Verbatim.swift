import SwiftSyntax

/// Nodes whose text is one token. The compiler is given the text of what a macro returns and parses that itself; parsing
/// it here as well would take most of the time of an expansion.
extension DeclSyntax {
  init(verbatim text: String) { self.init(MissingDeclSyntax(placeholder: .identifier(text))) }
}

extension AccessorDeclSyntax {
  init(verbatim text: String) { self.init(accessorSpecifier: .identifier(text)) }
}

extension AttributeSyntax {
  /// - Parameter text: the attribute without its `@`.
  init(verbatim text: String) {
    self.init(attributeName: TypeSyntax(MissingTypeSyntax(placeholder: .identifier(text))))
  }
}

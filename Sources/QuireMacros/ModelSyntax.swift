import SwiftSyntax

/// A model class as written and checked: what the code of its conformance is made from.
struct ModelSyntax {
  /// The class's name, which generated code inside the class may use whatever it is nested in.
  let name: String
  /// `public `, `package ` or nothing: generated requirements are as visible as the class, and no more.
  let access: String
  let isFinal: Bool
  /// What is stored, in source order: the position is the property's number.
  let properties: [PropertySyntax]
  let transients: [PropertySyntax]
  /// Arguments of all `#Index` and `#Unique` declarations, without paths that are refused.
  let indexes: [String]
  let uniques: [String]
  /// The arguments of `#FullText`, likewise.
  let fullText: String?
  let hasDesignatedInit: Bool
  /// Whether the superclass is one whose `init()` an `init()` here overrides.
  let isObject: Bool

  /// - Parameter enclosing: What the class stands in, innermost first: a class in a `public extension` is public.
  init(_ declaration: ClassDeclSyntax, in enclosing: [Syntax]) {
    name = declaration.name.text
    access = declaration.modifiers.access ?? enclosing.first?.as(ExtensionDeclSyntax.self)?.modifiers.access ?? ""
    isObject = declaration.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription == "NSObject"
    isFinal = declaration.modifiers.contains { $0.name.tokenKind == .keyword(.final) }

    var properties: [PropertySyntax] = []
    var transients: [PropertySyntax] = []
    var markers: [MacroExpansionDeclSyntax] = []
    var hasDesignatedInit = false
    for member in declaration.memberBlock.members.map(\.decl) {
      switch Member(member) {
      case .stored(let property): properties.append(property)
      case .transient(let property): transients.append(property)
      case .refused: break
      case .other:
        if member.isDesignatedInit
          || member.as(IfConfigDeclSyntax.self)?.memberDeclarations.contains(where: \.isDesignatedInit) == true
        {
          hasDesignatedInit = true
        } else if let expansion = member.as(MacroExpansionDeclSyntax.self),
          expansion.otherModel(than: declaration.name.text) == nil
        {
          markers.append(expansion)
        }
      }
    }
    // The compiler refuses properties of one name; nothing is generated for them.
    let names = Dictionary(properties.map { ($0.name, 1) }, uniquingKeysWith: +)
    properties.removeAll { names[$0.name] != 1 }
    self.properties = properties
    self.transients = transients
    let stored = Set(properties.map(\.name))
    func sets(_ macro: String) -> [String] {
      markers.filter { $0.macroName.text == macro }.flatMap(\.arguments)
        .compactMap { $0.expression.keyPaths(to: stored)?.trimmedDescription }
    }
    indexes = sets("Index")
    uniques = sets("Unique")
    fullText = markers.last { $0.macroName.text == "FullText" }.flatMap { marker in
      guard let first = marker.arguments.first, let paths = first.expression.keyPaths(to: stored) else { return nil }
      return
        ([paths.trimmedDescription]
        + marker.arguments.dropFirst().map { $0.with(\.trailingComma, nil).trimmedDescription })
        .joined(separator: ", ")
    }
    self.hasDesignatedInit = hasDesignatedInit
  }

  /// Whether objects can be made without any value, so that the class would have an implicit `init()`.
  var allHaveDefaults: Bool { properties.allSatisfy(\.hasDefault) }

  /// The number of the stored property with that name.
  func position(of name: String) -> Int? { properties.firstIndex { $0.name == name } }
}

extension ExprSyntax {
  /// A list of key paths without what leads to no property of that set, which is refused where it stands; nil if none is
  /// left.
  fileprivate func keyPaths(to stored: Set<String>) -> ExprSyntax? {
    guard let list = self.as(ArrayExprSyntax.self) else { return nil }
    let kept = list.elements.filter { element in
      guard let path = element.expression.as(KeyPathExprSyntax.self) else { return false }
      return path.firstName.map(stored.contains) ?? true
    }
    if kept.count == list.elements.count { return self }
    return kept.isEmpty ? nil : ExprSyntax(list.with(\.elements, kept))
  }
}

extension KeyPathExprSyntax {
  /// The property that its first step names.
  var firstName: String? {
    guard case .property(let first)? = components.first?.component else { return nil }
    return first.declName.baseName.bareName
  }
}

extension DeclModifierListSyntax {
  fileprivate var access: String? {
    for modifier in self {
      switch modifier.name.tokenKind {
      case .keyword(.public), .keyword(.open): return "public "
      case .keyword(.package): return "package "
      case .keyword(.internal), .keyword(.fileprivate), .keyword(.private): return ""
      default: continue
      }
    }
    return nil
  }
}

extension DeclSyntax {
  fileprivate var isDesignatedInit: Bool { self.as(InitializerDeclSyntax.self)?.isDesignated ?? false }
}

extension InitializerDeclSyntax {
  var isDesignated: Bool { !modifiers.contains { $0.name.tokenKind == .keyword(.convenience) } }
}

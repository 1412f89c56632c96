import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The members `@Model` adds: a checked class in, declarations out.
struct ModelMembers {
  let model: ModelSyntax
  /// The arguments of `@Model`: names of the table and of its key.
  let names: String
  let context: any MacroExpansionContext

  /// Before a property or method.
  private var member: String { model.access + (model.isFinal ? "" : "final ") }

  var declarations: [DeclSyntax] {
    var all = [state, definition, rowInit, vacantInit, read, vacant, bind, difference, adopt, link, setLink, tell]
    if !model.hasDesignatedInit && model.allHaveDefaults {
      all.append("\(model.access)\(model.isObject ? "override " : "")init() {}")
    }
    return all.map { DeclSyntax(verbatim: $0) }
  }

  private var state: String { "@safe @exclusivity(unchecked) \(member)var _quireState = Quire._Quire.ModelState()" }

  /// One statement a property: one expression of them all would be one problem for the type checker.
  private var definition: String {
    var lines = model.properties.map { property -> String in
      let label = property.isConstant ? "constant: " : ""
      // What it is of says whether there is such a column: see `UnstorableForm`.
      let form =
        property.plain == nil
        ? "\(form(property)).\(property.isConstant ? "constant" : "property")"
        : "Quire._Quire.ValueForm<\(property.plainType)>.self"
      var call = "properties.add(\(label)\(form), \"\(property.name)\", \(path(property))"
      if let attribute = property.attribute, !attribute.forwarded.isEmpty {
        call += ", attribute: Quire._Quire.AttributeDefinition(\(attribute.forwarded))"
      }
      if let relationship = property.relationship, !relationship.forwarded.isEmpty {
        call += ", relationship: Quire._Quire.RelationshipDefinition(\(relationship.forwarded))"
      }
      call += ", hasDefault: \(property.initialValue != nil || property.plain != nil))"
      // What only the type checker can refuse is refused here, once, and has to point at the property.
      return property.plain == nil ? context.placing(call, at: property.pattern) : call
    }
    lines.insert("\(lines.isEmpty ? "let" : "var") properties = Quire._Quire.PropertyDefinitions()", at: 0)
    var sets = "indexes: \(keyPaths(model.indexes)), uniques: \(keyPaths(model.uniques))"
    if let fullText = model.fullText { sets += ", fullText: Quire._Quire.fullText(\(model.name).self, \(fullText))" }
    let names = names.isEmpty ? "" : ".named(\(names))"
    lines.append(
      "return Quire._Quire.ModelDefinition(\(model.name).self, name: \"\(model.bareName)\", properties: properties.all, \(sets))"
        + names)
    return "\(model.access)static var _quireDefinition: Quire._Quire.ModelDefinition \(block(lines))"
  }

  private func keyPaths(_ sets: [String]) -> String {
    sets.isEmpty ? "[]" : "Quire._Quire.keyPaths(\(model.name).self, \(sets.joined(separator: ", ")))"
  }

  // The initializers are private, so that the compiler speaks of none but the class's own, and no subclass needs them.

  private var rowInit: String {
    var lines = model.properties.map { property in
      let storage = own(property)
      return switch property.plain {
      case let plain? where plain.hasCostlyZero: "\(storage) = try row.required()"
      case _? where hasValue(property): "row.value(into: &\(storage))"
      case let plain? where plain.isFlat && !property.isConstant:
        "\(storage) = \(plain.zero)\nrow.value(into: &\(storage))"
      case let plain?: "\(storage) = row.value(else: \(plain.zero))"
      case nil where property.isConstant: "\(storage) = try row.constant(\(form(property)))"
      case nil where hasValue(property): "row.slot(\(form(property)), into: &\(storage))"
      case nil: "\(storage) = row.slot(\(form(property)))"
      }
    }
    lines.append("_quireState = state")
    return """
      private init(_quireRow row: inout Quire._Quire.PropertyReader, _ state: Quire._Quire.ModelState) \
      \(rowInitThrows ? "throws(Quire.ValueError) " : "")\(block(lines))
      """
  }

  /// Whether the storage is initialized where it is declared: then it is read into in place, because a value in between
  /// is many instructions without optimization.
  private func hasValue(_ property: PropertySyntax) -> Bool {
    !property.isConstant && (property.initialValue != nil || property.isDeclaredOptional)
  }

  private var rowInitThrows: Bool {
    model.properties.contains { property in property.plain.map(\.hasCostlyZero) ?? property.isConstant }
  }

  /// What has a declared value has it in its storage already.
  private var vacantInit: String {
    let properties = model.properties.filter { $0.initialValue == nil && !($0.plain != nil && hasValue($0)) }
    var lines = properties.map { property in
      let value = property.isConstant ? "Quire._Quire.zero(\(path(property)))" : "\(form(property)).vacant()"
      return "\(own(property)) = \(property.plain?.zero ?? value)"
    }
    lines.append("_quireState = state")
    return "private init(_quireVacant state: Quire._Quire.ModelState) \(block(lines))"
  }

  private var read: String {
    """
    \(model.access)static func _quireRead(_ row: inout Quire._Quire.RowCursor, _ state: consuming Quire._Quire.ModelState) \
    throws(Quire.ValueError) -> Swift.AnyObject {
    var reader = Quire._Quire.PropertyReader(row)
    defer {
    reader.move(&row)
    }
    let object = \(rowInitThrows ? "try " : "")\(model.name)(_quireRow: &reader, state)
    return try reader.finish(object)
    }
    """
  }

  private var vacant: String {
    """
    \(model.access)static func _quireVacant(_ state: Quire._Quire.ModelState) -> Swift.AnyObject { \
    \(model.name)(_quireVacant: state) }
    """
  }

  private var bind: String {
    var lines = numbered { property, position in
      let value = property.isConstant ? "constant: \(own(property))" : "&\(property.storage)"
      return property.plain != nil
        ? "writer.value(\(position), \(value))" : "writer.slot(\(position), \(form(property)), \(value))"
    }
    if !lines.isEmpty {
      lines.insert("var writer = Quire._Quire.PropertyWriter(properties, to: statement, from: index)", at: 0)
      lines.append("try writer.finish()")
    }
    return """
      \(member)func _quireBind(_ properties: Quire._Quire.PropertyMask, to statement: Quire._Quire.Statement, from index: Swift.Int32) \
      throws(Quire.ValueError) \(block(lines))
      """
  }

  private var difference: String {
    var lines = numbered(variablesOnly: true) { property, position in
      let values = "&\(property.storage), &other.\(property.storage)"
      return property.plain.map { "difference.\($0.comparison)(\(position), \(values))" }
        ?? "difference.slot(\(position), \(form(property)), \(values))"
    }
    if lines.isEmpty {
      lines = ["return 0"]
    } else {
      lines.insert("guard let other = other as? \(model.name) else {\nreturn 0\n}", at: 0)
      lines.insert("var difference = Quire._Quire.PropertyDifference()", at: 1)
      lines.append("return difference.properties")
    }
    return "\(member)func _quireDifference(from other: Swift.AnyObject) -> Quire._Quire.PropertyMask \(block(lines))"
  }

  private var adopt: String {
    var lines = numbered(variablesOnly: true) { property, position in
      "Quire._Quire.take(properties, \(position), &other.\(property.storage), to: &\(property.storage))"
    }
    if !lines.isEmpty { lines.insert("guard let other = other as? \(model.name) else {\nreturn\n}", at: 0) }
    return
      "\(member)func _quireAdopt(_ properties: Quire._Quire.PropertyMask, from other: Swift.AnyObject) \(block(lines))"
  }

  private var link: String {
    var lines = slots { "if \(isProperty($1)) {\nreturn \($0.storage).link\n}" }
    lines.append("return Quire._Quire.Link()")
    return "\(member)func _quireLink(_ property: Swift.Int) -> Quire._Quire.Link \(block(lines))"
  }

  private var setLink: String {
    let lines = slots { "if \(isProperty($1)) {\n\($0.storage).link = link\n}" }
    return "\(member)func _quireSetLink(_ property: Swift.Int, _ link: Quire._Quire.Link) \(block(lines))"
  }

  private var tell: String {
    let lines = numbered(variablesOnly: true) {
      "if \(isProperty($1)) {\nQuire._Quire.tell(self, \(path($0)), moment)\n}"
    }
    return "\(member)func _quireTell(_ property: Swift.Int, _ moment: Quire._Quire.Moment) \(block(lines))"
  }

  // MARK: Pieces

  private func path(_ property: PropertySyntax) -> String { "\\\(model.name).\(property.reference)" }
  private func form(_ property: PropertySyntax) -> String { "\(property.formFunction)(\(path(property)))" }
  /// Its storage: a constant may be called as a parameter of what is written here.
  private func own(_ property: PropertySyntax) -> String {
    property.isConstant ? "self.\(property.storage)" : property.storage
  }

  private func block(_ lines: [String]) -> String { "{\n\(lines.joined(separator: "\n"))\n}" }

  private func isProperty(_ position: Int) -> String { "Quire._Quire.isProperty(property, \(position))" }

  /// A line for each property, with its position. What it does with sets and numbers are calls: the type checker would
  /// try each overload of an operator. A constant stays what its object was made with, so it is
  /// neither compared with a row nor taken from one.
  private func numbered(variablesOnly: Bool = false, _ line: (PropertySyntax, Int) -> String) -> [String] {
    model.properties.enumerated().filter { !variablesOnly || !$0.element.isConstant }.map { position, property in
      line(property, position)
    }
  }

  private func slots(_ line: (PropertySyntax, Int) -> String) -> [String] {
    model.properties.enumerated().filter { $0.element.plain == nil && !$0.element.isConstant }.map {
      position, property in line(property, position)
    }
  }
}

extension ModelSyntax {
  fileprivate var bareName: String { name.hasPrefix("`") ? String(name.dropFirst().dropLast()) : name }
}

extension PropertySyntax {
  /// Whether its type is written with `?` or `!`, so that a `var` of it is nil without an initial value.
  fileprivate var isDeclaredOptional: Bool {
    type?.last == "?" || type?.last == "!"
  }

  /// The type of a plain property.
  fileprivate var plainType: String { type.map { "\($0)" } ?? plain!.qualifiedName }
}

extension MacroExpansionContext {
  /// Code that the compiler takes to be written at the line of `node`.
  func placing(_ code: String, at node: some SyntaxProtocol) -> String {
    guard let place = location(of: node, at: .afterLeadingTrivia, filePathMode: .filePath) else { return code }
    return "#sourceLocation(file: \(place.file.trimmed), line: \(place.line.trimmed))\n\(code)\n#sourceLocation()"
  }
}

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

  private var state: String { "@exclusivity(unchecked) \(member)var _quireState = Quire._Quire.ModelState()" }

  /// One statement a property: one expression of them all would be one problem for the type checker.
  private var definition: String {
    var lines = model.properties.map { property -> String in
      let label = property.isConstant ? "constant: " : ""
      let form = property.plain == nil ? form(property) : "Quire._Quire.ValueForm<\(property.plainType)>.self"
      var call = "Quire._Quire.PropertyDefinition(\(label)\(form), \"\(property.name)\", \(path(property))"
      if let attribute = property.attribute, !attribute.forwarded.isEmpty {
        call += ", attribute: Quire._Quire.AttributeDefinition(\(attribute.forwarded))"
      }
      if let relationship = property.relationship, !relationship.forwarded.isEmpty {
        call += ", relationship: Quire._Quire.RelationshipDefinition(\(relationship.forwarded))"
      }
      if property.initialValue != nil || property.plain != nil { call += ", hasDefault: true" }
      // What only the type checker can refuse is refused here, once, and has to point at the property.
      let line = "properties.append(\(call)))"
      return property.plain == nil ? context.placing(line, at: property.pattern) : line
    }
    lines.insert("\(lines.isEmpty ? "let" : "var") properties: [Quire._Quire.PropertyDefinition] = []", at: 0)
    var sets = "indexes: \(keyPaths(model.indexes)), uniques: \(keyPaths(model.uniques))"
    if let fullText = model.fullText { sets += ", fullText: Quire._Quire.fullText(\(model.name).self, \(fullText))" }
    let names = names.isEmpty ? "" : ".named(\(names))"
    lines.append(
      "return Quire._Quire.ModelDefinition(\(model.name).self, name: \"\(model.bareName)\", properties: properties, \(sets))"
        + names)
    return "\(model.access)static var _quireDefinition: Quire._Quire.ModelDefinition \(block(lines))"
  }

  private func keyPaths(_ sets: [String]) -> String {
    sets.isEmpty ? "[]" : "Quire._Quire.keyPaths(\(model.name).self, \(sets.joined(separator: ", ")))"
  }

  // The initializers are private, so that the compiler speaks of none but the class's own, and no subclass needs them.

  private var rowInit: String {
    var lines = model.properties.map { property in
      if property.plain != nil {
        "\(own(property)) = try row.next(\(property.plainType).self)"
      } else if property.isConstant {
        "\(own(property)) = try Quire._Quire.constant(\(form(property)).read(&row))"
      } else {
        "\(property.storage) = try \(form(property)).read(&row)"
      }
    }
    lines.append("_quireState = state")
    return """
      private init(_quireRow row: inout Quire._Quire.RowCursor, _ state: Quire._Quire.ModelState) throws(Quire.ValueError) \
      \(block(lines))
      """
  }

  /// What has a declared value has it in its storage already.
  private var vacantInit: String {
    var lines = model.properties.filter { $0.initialValue == nil }.map { property in
      let value = property.isConstant ? "Quire._Quire.zero(\(path(property)))" : "\(form(property)).vacant()"
      return "\(own(property)) = \(property.plain?.zero ?? value)"
    }
    lines.append("_quireState = state")
    return "private init(_quireVacant state: Quire._Quire.ModelState) \(block(lines))"
  }

  private var read: String {
    """
    \(model.access)static func _quireRead(_ row: inout Quire._Quire.RowCursor, _ state: consuming Quire._Quire.ModelState) \
    throws(Quire.ValueError) -> Swift.AnyObject { try \(model.name)(_quireRow: &row, state) }
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
      let index = "at: Quire._Quire.next(&index)"
      let call =
        property.plain != nil
        ? "\(own(property))._write(to: statement, \(index))"
        : "\(form(property)).bind(\(slot(property)), to: statement, \(index))"
      return "if Quire._Quire.holds(properties, \(position)) {\ntry \(call)\n}"
    }
    if !lines.isEmpty { lines.insert("var index = index", at: 0) }
    return """
      \(member)func _quireBind(_ properties: Quire._Quire.PropertyMask, to statement: Quire._Quire.Statement, from index: Swift.Int32) \
      throws(Quire.ValueError) \(block(lines))
      """
  }

  private var difference: String {
    var lines = numbered(variablesOnly: true) { property, position in
      let condition =
        property.plain.map {
          "Quire._Quire.differs(\($0.comparison): \(property.storage), other.\(property.storage))"
        }
        ?? "\(form(property)).differ(\(property.storage), other.\(property.storage))"
      return "if \(condition) {\nQuire._Quire.add(\(position), to: &mask)\n}"
    }
    if lines.isEmpty {
      lines = ["return 0"]
    } else {
      lines.insert("guard let other = other as? \(model.name) else {\nreturn 0\n}", at: 0)
      lines.insert("var mask: Quire._Quire.PropertyMask = 0", at: 1)
      lines.append("return mask")
    }
    return "\(member)func _quireDifference(from other: Swift.AnyObject) -> Quire._Quire.PropertyMask \(block(lines))"
  }

  private var adopt: String {
    var lines = numbered(variablesOnly: true) { property, position in
      "if Quire._Quire.holds(properties, \(position)) {\n\(property.storage) = other.\(property.storage)\n}"
    }
    if !lines.isEmpty { lines.insert("guard let other = other as? \(model.name) else {\nreturn\n}", at: 0) }
    return
      "\(member)func _quireAdopt(_ properties: Quire._Quire.PropertyMask, from other: Swift.AnyObject) \(block(lines))"
  }

  private var link: String {
    let cases = slots { "return \($0.storage).link" }
    return """
      \(member)func _quireLink(_ property: Swift.Int) -> Quire._Quire.Link \
      \(choice(cases, default: "return Quire._Quire.Link()"))
      """
  }

  private var setLink: String {
    let cases = slots { "\($0.storage).link = link" }
    return
      "\(member)func _quireSetLink(_ property: Swift.Int, _ link: Quire._Quire.Link) \(choice(cases, default: "break"))"
  }

  private var tell: String {
    let cases = model.properties.enumerated().filter { !$0.element.isConstant }.map { position, property in
      "case \(position):\nQuire._Quire.tell(self, \(path(property)), moment)"
    }
    return """
      \(member)func _quireTell(_ property: Swift.Int, _ moment: Quire._Quire.Moment) \(choice(cases, default: "break"))
      """
  }

  // MARK: Pieces

  private func path(_ property: PropertySyntax) -> String { "\\\(model.name).\(property.reference)" }
  private func form(_ property: PropertySyntax) -> String { "Quire._Quire.form(\(path(property)))" }
  private func slot(_ property: PropertySyntax) -> String {
    property.isConstant ? "Quire._Quire.Slot(\(own(property)))" : property.storage
  }
  /// Its storage: a constant may be called as a parameter of what is written here.
  private func own(_ property: PropertySyntax) -> String {
    property.isConstant ? "self.\(property.storage)" : property.storage
  }

  private func block(_ lines: [String]) -> String { "{\n\(lines.joined(separator: "\n"))\n}" }

  private func choice(_ cases: [String], default last: String) -> String {
    if cases.isEmpty { return last == "break" ? "{\n}" : block([last]) }
    return block(["switch property {"] + cases + ["default:\n\(last)", "}"])
  }

  /// A line for each property, with its position. What it does with sets and counts are calls: the type checker would try
  /// each overload of an operator. A constant stays what its object was made with, so it is
  /// neither compared with a row nor taken from one.
  private func numbered(variablesOnly: Bool = false, _ line: (PropertySyntax, Int) -> String) -> [String] {
    model.properties.enumerated().filter { !variablesOnly || !$0.element.isConstant }.map { position, property in
      line(property, position)
    }
  }

  private func slots(_ statement: (PropertySyntax) -> String) -> [String] {
    model.properties.enumerated().filter { $0.element.plain == nil && !$0.element.isConstant }.map {
      position, property in
      "case \(position):\n\(statement(property))"
    }
  }
}

extension ModelSyntax {
  fileprivate var bareName: String { name.hasPrefix("`") ? String(name.dropFirst().dropLast()) : name }
}

extension PropertySyntax {
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

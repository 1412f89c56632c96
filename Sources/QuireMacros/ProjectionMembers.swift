import SwiftSyntax
import SwiftSyntaxMacros

/// The members `@Projection` adds: a checked struct in, declarations out.
struct ProjectionMembers {
  let projection: ProjectionSyntax
  let context: any MacroExpansionContext

  private var access: String { projection.access }

  var declarations: [String] {
    ["\(access)typealias Model = \(projection.model)", definition, row, projection.valuesInit, append]
  }

  /// What only the type checker can refuse is refused here, once, and at the field: that the path exists, that its type
  /// is the field's, and that the type is one of values.
  private var definition: String {
    let lines = projection.fields.enumerated().flatMap { place, field in
      // Two statements, because a closure in the first may have several lines: a field is refused at the second.
      ["let part\(place) = \(source(of: field))", "fields.append(part\(place).field)"].map {
        context.placing($0, at: field.property.pattern)
      }
    }
    return """
      \(access)static var _quireDefinition: Quire._Quire.ProjectionDefinition {
      var fields: [Quire._Quire.ProjectionField] = []
      \(lines.joined(separator: "\n"))
      return Quire._Quire.ProjectionDefinition("\(projection.name)", fields)
      }
      """
  }

  /// The call that makes the field's declaration.
  private func source(of field: FieldSyntax) -> String {
    let own = "\"\(field.property.name)\", \\Self.\(field.property.reference)"
    let model = "\(projection.model).self"
    switch field.source {
    case .path(let written):
      let path = written?.trimmedDescription ?? "\\\(projection.model).\(field.property.reference)"
      let names = written?.propertyNames ?? [field.property.name]
      return "Quire._Quire.field(\(model), \(form(field)), \(own), from: \(path), \(list(names)))"
    case .related(let name, let objects, let value, let condition):
      let property = value.map { ", \($0.trimmedDescription), \(list($0.propertyNames))" } ?? ""
      let filter = condition.map { ", where: #Predicate \($0.trimmedDescription)" } ?? ""
      return "Quire._Quire.\(name.lowercased())(\(model), \(own), of: \(objects.trimmedDescription), "
        + "\(list(objects.propertyNames))\(property)\(filter))"
    case .group: return ""  // refused
    case .computed(let closure):
      return "Quire._Quire.computed(\(model), \(form(field)), \(own), #_RowExpression \(closure.trimmedDescription))"
    }
  }

  private func list(_ names: [String]) -> String { "[\(names.map { "\"\($0)\"" }.joined(separator: ", "))]" }

  /// All values first, and then the row at once: one that is left half-made by an error is copied and destroyed.
  private var row: String {
    let values = projection.fields.enumerated().map { place, field in
      "let value\(place) = try \(reading(field))"
    }
    let arguments = projection.fields.indices.map { "value\($0)" }.joined(separator: ", ")
    return """
      \(access)static func _quireRow(_ row: inout Quire._Quire.RowCursor, _ origin: Quire._Quire.ProjectionOrigin) \
      throws(Quire.ValueError) -> Self {
      \(values.joined(separator: "\n"))
      return Self(_quireValues: \(arguments))
      }
      """
  }

  private func reading(_ field: FieldSyntax) -> String {
    if case .related(let name, _, _, _) = field.source, name == "Sum" || name == "Average" {
      return "Quire._Quire.totalled(\(metatype(field))).read(&row, origin)"
    }
    return field.property.plain != nil ? "row.next(\(metatype(field)))" : "\(form(field)).read(&row, origin)"
  }

  /// Where the type is known, so that the loop over the rows need not find out about it at each.
  private var append: String {
    """
    \(access)static func _quireAppend(_ row: inout Quire._Quire.RowCursor, _ origin: Quire._Quire.ProjectionOrigin, \
    to rows: inout Swift.Array<Self>) throws(Quire.ValueError) {
    rows.append(try _quireRow(&row, origin))
    }
    """
  }

  private func metatype(_ field: FieldSyntax) -> String {
    let type = field.type ?? "Swift.Never"
    return type.isWord ? "\(type).self" : "(\(type)).self"
  }

  private func form(_ field: FieldSyntax) -> String { "Quire._Quire.projected(\(metatype(field)))" }
}

extension ProjectionSyntax {
  /// An initializer of all fields in order, whatever the struct's own are.
  var valuesInit: String {
    let parameters = fields.enumerated().map { place, field in
      "\(place == 0 ? "_quireValues" : "_") value\(place): \(field.type ?? "Swift.Never")"
    }
    let lines = fields.enumerated().map { "self.\($1.property.reference) = value\($0)" }
    return """
      private init(\(parameters.joined(separator: ", "))) {
      \(lines.joined(separator: "\n"))
      }
      """
  }
}

extension String {
  /// Whether it is a plain name, which needs no parentheses before `.self`.
  fileprivate var isWord: Bool { allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." } }
}

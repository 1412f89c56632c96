import SwiftSyntax
import SwiftSyntaxMacros

/// The members `@Projection` adds: a checked struct in, declarations out.
struct ProjectionMembers {
  let projection: ProjectionSyntax
  let context: any MacroExpansionContext

  private var access: String { projection.access }

  var declarations: [String] {
    ["\(access)typealias Model = \(projection.model)", definition, row, valuesInit, append]
  }

  /// What only the type checker can refuse is refused here, once, and at the field: that the path exists, that its type
  /// is the field's, and that the type is one of values.
  private var definition: String {
    let lines = projection.fields.map { field in
      let property = field.property
      let path = field.path?.trimmedDescription ?? "\\\(projection.model).\(property.reference)"
      let names = field.names.map { "\"\($0)\"" }.joined(separator: ", ")
      let line = """
        fields.append(Quire._field(\(projection.model).self, \(form(field)), "\(property.name)", \
        \\Self.\(property.reference), from: \(path), [\(names)]))
        """
      return context.placing(line, at: property.pattern)
    }
    return """
      \(access)static var _quireDefinition: Quire.ProjectionDefinition {
      var fields: [Quire.ProjectionField] = []
      \(lines.joined(separator: "\n"))
      return Quire.ProjectionDefinition("\(projection.name)", fields)
      }
      """
  }

  /// All values first, and then the row at once: one that is left half-made by an error is copied and destroyed.
  private var row: String {
    let values = projection.fields.enumerated().map { place, field in
      let value =
        field.property.plain != nil ? "row.next(\(metatype(field)))" : "\(form(field)).read(&row, origin)"
      return "let value\(place) = try \(value)"
    }
    let arguments = projection.fields.indices.map { "value\($0)" }.joined(separator: ", ")
    return """
      \(access)static func _quireRow(_ row: inout Quire.RowCursor, _ origin: Quire.ProjectionOrigin) \
      throws(Quire.ValueError) -> Self {
      \(values.joined(separator: "\n"))
      return Self(_quireValues: \(arguments))
      }
      """
  }

  private var valuesInit: String {
    let parameters = projection.fields.enumerated().map { place, field in
      "\(place == 0 ? "_quireValues" : "_") value\(place): \(field.type ?? "Swift.Never")"
    }
    let lines = projection.fields.enumerated().map { "self.\($1.property.reference) = value\($0)" }
    return """
      private init(\(parameters.joined(separator: ", "))) {
      \(lines.joined(separator: "\n"))
      }
      """
  }

  /// Where the type is known, so that the loop over the rows need not find out about it at each.
  private var append: String {
    """
    \(access)static func _quireAppend(_ row: inout Quire.RowCursor, _ origin: Quire.ProjectionOrigin, \
    to rows: inout Swift.Array<Self>) throws(Quire.ValueError) {
    rows.append(try _quireRow(&row, origin))
    }
    """
  }

  private func metatype(_ field: FieldSyntax) -> String {
    let type = field.type ?? "Swift.Never"
    return type.isWord ? "\(type).self" : "(\(type)).self"
  }

  private func form(_ field: FieldSyntax) -> String { "Quire._projected(\(metatype(field)))" }
}

extension String {
  /// Whether it is a plain name, which needs no parentheses before `.self`.
  fileprivate var isWord: Bool { allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." } }
}

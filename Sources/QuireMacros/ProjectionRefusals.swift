import SwiftDiagnostics
import SwiftSyntax

/// Something `@Projection` does not take: where, why, and what to write instead.
struct ProjectionRefusal {
  let node: Syntax
  let reason: Reason

  init(_ reason: Reason, at node: some SyntaxProtocol) {
    self.node = Syntax(node)
    self.reason = reason
  }

  var diagnostic: Diagnostic { Diagnostic(node: node, message: reason) }

  /// Every reason there is. The text says what is in the way and then, after the colon, what to write.
  enum Reason: Hashable {
    // The struct
    case notAStruct(kind: String, name: String)
    case withoutModel
    case generic(name: String)
    case globalActor
    case empty(name: String)

    // A field
    case several(names: [String])
    case lazy(name: String)
    case constant(name: String)
    case untyped(name: String)
    case conditional(name: String)

    // What it is read from
    case outsideProjection(attribute: String)
    case notStored(name: String, attribute: String)
    case twoSources(name: String)
    case conditionNotLiteral
    case computationNotLiteral(model: String)
    case computationUntyped(model: String)
    case otherComputation(type: String, model: String)

    // Of groups
    case ungrouped
    case manyKeys(names: [String])
    case withoutObjects(attribute: String, model: String)
    case relatedOfGroup
    case computedOfGroup(name: String)

    // Its path
    case valuePathNotLiteral
    case pathNotLiteral(model: String)
    case otherModel(root: String, model: String)
    case forced
    case noProperty
  }
}

extension ProjectionRefusal.Reason: DiagnosticMessage {
  var severity: DiagnosticSeverity { .error }

  var diagnosticID: MessageID { MessageID(domain: "Quire", id: String("\(self)".prefix { $0 != "(" })) }

  var message: String {
    switch self {
    case .notAStruct(let kind, let name):
      "@Projection makes values of rows, and \(kind) is none: write ‘struct \(name)’"
    case .withoutModel:
      "a projection shows rows of one model: name it, as in ‘@Projection(of: Book.self)’"
    case .generic(let name):
      "a projection is one list of columns, and a generic struct would be many: write a struct for each kind of ‘\(name)’"
    case .globalActor:
      "the rows of a projection travel between isolations: remove @MainActor"
    case .empty(let name):
      "‘\(name)’ shows nothing: write a ‘var’ for each property it is to have of the model"

    case .several(let names) where names.isEmpty:
      "a field of a projection has one name: write a ‘var’ for each"
    case .several(let names):
      "\(names.map { "‘\($0)’" }.joined(separator: " and ")) share one declaration: write a ‘var’ for each"
    case .lazy(let name):
      "‘\(name)’ is read from its row, so it can't be lazy: compute it (‘var \(name): … { … }’)"
    case .constant(let name):
      "‘\(name)’ is read from its row, so it can't be a constant of the type: remove its value, or write ‘static let’"
    case .untyped(let name):
      "nothing here says what ‘\(name)’ is: write its type, which is the type of the model's property"
    case .conditional(let name):
      "‘\(name)’ is read in some builds only, and a row has its columns in all: declare it outside the #if"

    case .outsideProjection(let attribute):
      "@\(attribute) means something in a @Projection struct only: mark the struct with @Projection(of:), or remove it"
    case .notStored(let name, let attribute):
      "‘\(name)’ is not a stored property, so nothing is read for it: remove @\(attribute)"
    case .twoSources(let name):
      "‘\(name)’ is one value, read from one source: keep one of the attributes"
    case .conditionNotLiteral:
      "the condition is read from the source: write the closure itself, as in ‘where: { $0.isAvailable }’"
    case .computationNotLiteral(let model):
      "what is computed is read from the source: write the closure itself, as in ‘{ (object: \(model)) in … }’"
    case .computationUntyped(let model):
      "nothing here says of what this is computed: name the model, as in ‘{ (object: \(model)) in … }’"
    case .otherComputation(let type, let model):
      "this projection is of ‘\(model)’, and this is computed of ‘\(type)’: take a ‘\(model)’"

    case .ungrouped:
      "nothing here says what the rows are grouped by: declare that property too, such as ‘var year: Int?’"
    case .manyKeys(let names):
      "rows are grouped by one property, and \(names.map { "‘\($0)’" }.joined(separator: " and ")) are \(names.count): keep one, and give the others an aggregate"
    case .withoutObjects(let attribute, let model):
      "this row is of one ‘\(model)’: name the objects that belong to it, as in ‘@\(attribute)(\\Author.books\(attribute == "Count" ? "" : ", \\Book.rating"))’"
    case .relatedOfGroup:
      "a group is aggregated over its own rows: write ‘@Count’, or one path, as in ‘@Average(\\Book.rating)’"
    case .computedOfGroup(let name):
      "a group has what it is grouped by, and aggregates: compute it from these in Swift (‘var \(name): … { … }’)"

    case .valuePathNotLiteral:
      "the path is read from the source: write the key path itself, such as ‘\\Book.rating’"
    case .pathNotLiteral(let model):
      "the path is read from the source: write the key path itself with the model's name, such as ‘\\\(model).author?.name’"
    case .otherModel(let root, let model):
      "this projection is of ‘\(model)’, and the path begins at ‘\(root)’: begin it with ‘\\\(model)’"
    case .forced:
      "where the row is missing the value is nil, which ‘!’ would not take: write ‘?’, and an optional field"
    case .noProperty:
      "only stored properties have columns: write a path of property names"
    }
  }
}

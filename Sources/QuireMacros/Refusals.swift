import SwiftDiagnostics
import SwiftSyntax

/// Something `@Model` does not take: where, why, and what to write instead.
struct Refusal {
  let node: Syntax
  let reason: Reason
  /// The change of the source that makes it right, where one keystroke should do.
  var fix: FixIt?

  init(_ reason: Reason, at node: some SyntaxProtocol, fix: FixIt? = nil) {
    self.node = Syntax(node)
    self.reason = reason
    self.fix = fix
  }

  var diagnostic: Diagnostic {
    Diagnostic(node: node, message: reason, fixIts: fix.map { [$0] } ?? [])
  }

  /// Every reason there is. The text says what is in the way and then, after the colon, what to write.
  enum Reason: Hashable {
    // The class
    case notAnActor
    case notAClass(kind: String, name: String)
    case generic(name: String)
    case inheritsModel(name: String)
    case globalActor
    case alreadyObservable
    case sendable(name: String)
    case noInitializer(name: String, parameters: [String])
    case tooManyProperties(count: Int)

    // The declaration of a property
    case constant(name: String)
    case several(names: [String])
    case pattern
    case lazy(name: String)
    case unowned(name: String)
    case conditional(name: String)
    case conditionalMarker(marker: String)
    case isolated(name: String)
    case wrapper(name: String, wrapper: String)
    case published(name: String)
    case untyped(name: String)
    case reservedPrefix(name: String)
    case reservedName(name: String)
    case storageTaken(name: String, by: String)

    // Its type and its value
    case function(name: String)
    case tuple(name: String)
    case existential(name: String, type: String)
    case nestedOptional(name: String, type: String)
    case withoutDefault(name: String)

    // Its attributes
    case transientWith(attribute: String)
    case secondMarker(marker: String, whole: String)
    case noColumn(attribute: String, name: String)
    case valueAsRelationship(name: String, type: String)
    case setAsRelationship(name: String, element: String)
    case inverseNotLiteral
    case inverseWithoutModel
    case ruleWithoutLabel(rule: String)
    case outsideModel(attribute: String)
    case inExtension(attribute: String)
    case otherModel(macro: String, named: String, model: String)
    case withoutColumn(macro: String, name: String, model: String)
    case unnamedModel(macro: String, model: String)
    case withoutBrackets(macro: String)
    case notAPath(macro: String)
    case secondFullText(model: String)
  }
}

extension Refusal.Reason: DiagnosticMessage {
  /// A constant with a value and a `Sendable` class are the compiler's to refuse: it does in the Swift 6 language mode, and
  /// not in Swift 5's.
  var severity: DiagnosticSeverity {
    switch self {
    case .constant, .sendable: .warning
    default: .error
    }
  }

  var diagnosticID: MessageID {
    MessageID(domain: "Quire", id: String("\(self)".prefix { $0 != "(" }))
  }

  var message: String {
    switch self {
    case .notAnActor: "@ModelActor gives an actor its context: write ‘actor’"
    case .notAClass(let kind, let name):
      "@Model makes live objects of rows, and \(kind) is none: write ‘final class \(name)’"
    case .generic(let name):
      "a model is one table, and a generic class would be many: write a class for each kind of ‘\(name)’"
    case .inheritsModel(let name):
      "‘\(name)’ inherits from a model, and a row is of one class: share what is common through a protocol, or keep the other model as a property"
    case .globalActor:
      "a model belongs to the isolation of its context, not to an actor of its own: remove @MainActor (objects of ‘mainContext’ are used on the main actor as they are)"
    case .alreadyObservable:
      "@Model makes the class observable already: remove @Observable"
    case .sendable(let name):
      "an object belongs to its context's isolation, so ‘\(name)’ can't be Sendable: remove it, and hand on ‘persistentModelID’ or a ‘snapshot()’"
    case .noInitializer(let name, let parameters):
      "‘\(name)’ needs an init for its properties without a default: write ‘init(\(parameters.joined(separator: ", "))) { … }’"
    case .tooManyProperties(let count):
      "a model has at most 127 stored properties, and this one has \(count): move some into a Codable struct or a model of their own"

    case .constant(let name):
      "‘\(name)’ is stored, and a constant with a value cannot be read from a row: write ‘private(set) var’, or give it its value in the init (the Swift 5 language mode lets it pass)"
    case .several(let names):
      "\(names.map { "‘\($0)’" }.joined(separator: " and ")) share one declaration: write a ‘var’ for each"
    case .pattern:
      "a stored property of a model has one name: write a ‘var’ for each"
    case .lazy(let name):
      "‘\(name)’ can't be lazy, as it is read from its row: compute it (‘var \(name): … { … }’), or mark it @Transient to keep it lazy and out of the table"
    case .unowned(let name):
      "‘\(name)’ can't be unowned: a reference to a model is a relationship and keeps no object alive in a circle, so write ‘var \(name)’"
    case .conditional(let name):
      "‘\(name)’ is stored in some builds only, and a table has its columns in all: declare it outside the #if, or mark it @ObservationIgnored"
    case .conditionalMarker(let marker):
      "\(marker) applies to some builds only, and a table is the same in all: write it outside the #if"
    case .isolated(let name):
      "‘\(name)’ belongs to the isolation of its object's context: remove the actor from its declaration"
    case .wrapper(let name, let wrapper):
      "@Model gives ‘\(name)’ its accessors, so the property wrapper @\(wrapper) can't: do what it does in ‘didSet’, or mark the property @ObservationIgnored to keep the wrapper and leave it out of the table"
    case .published(let name):
      "every property of a model is observed, so ‘\(name)’ needs no @Published: remove it"
    case .untyped(let name):
      "‘\(name)’ has neither a type nor a value: write ‘var \(name): String’, or whatever it is"
    case .reservedPrefix(let name):
      "names beginning ‘_quire’ belong to @Model: call ‘\(name)’ something else"
    case .reservedName(let name):
      "every model has a ‘\(name)’ already: choose another name, and keep the column's with @Attribute(column:)"
    case .storageTaken(let name, let other):
      "‘\(other)’ is the name of the storage behind ‘\(name)’: rename one of them"

    case .function(let name):
      "a function can't be stored, so ‘\(name)’ has no column: mark it @Transient and give it a default"
    case .tuple(let name):
      "a tuple can't be stored, so ‘\(name)’ has no column: make it a Codable struct, or a property for each part"
    case .existential(let name, let type):
      "‘\(type)’ doesn't say what to read back, so ‘\(name)’ has no column: name a Codable type or a @Model, or mark it @Transient"
    case .nestedOptional(let name, let type):
      "a column has one kind of NULL, and ‘\(name): \(type)’ two of nil: write one ‘?’"
    case .withoutDefault(let name):
      "‘\(name)’ isn't stored, so an object read from its row has no value for it: give it a default"

    case .transientWith(let attribute):
      "@Transient says the property isn't stored and @\(attribute) how it is: keep one of them"
    case .secondMarker(let marker, let whole):
      "a property has one \(marker): write ‘\(whole)’"
    case .noColumn(let attribute, let name):
      "‘\(name)’ is not a stored property, so it has no column: remove @\(attribute)"
    case .valueAsRelationship(let name, let type):
      "a relationship leads to a model, and ‘\(name): \(type)’ holds values: remove @Relationship"
    case .setAsRelationship(let name, let element):
      "a to-many relationship is an array: write ‘var \(name): [\(element)]’"
    case .inverseNotLiteral:
      "the inverse is read from the source: write the key path itself, such as ‘inverse: \\Author.books’"
    case .inverseWithoutModel:
      "the inverse is a property of the other model: name it, as in ‘inverse: \\Author.books’"
    case .ruleWithoutLabel(let rule):
      "the delete rule has a label: write ‘deleteRule: .\(rule)’"
    case .outsideModel(let attribute):
      "\(attribute) means something in a @Model class only: mark the class with @Model, or remove it"
    case .inExtension(let attribute):
      "\(attribute) is read in the class itself, because an extension stores nothing: move it into the class, or remove it"
    case .otherModel(let macro, let named, let model):
      "#\(macro) stands in the class whose table it is of: write ‘#\(macro)<\(model)>’, or move it into ‘\(named)’"
    case .withoutColumn(let macro, let name, let model):
      "‘\(model)’ stores no ‘\(name)’, and #\(macro) is made of columns: name a stored property of the class"
    case .unnamedModel(let macro, let model):
      "#\(macro) names the model it is of: write ‘#\(macro)<\(model)>’"
    case .withoutBrackets(let macro):
      "#\(macro) takes lists of key paths, one for each index: write ‘[\\.title]’, or ‘[\\.title, \\.year]’ for several together"
    case .notAPath(let macro):
      "#\(macro) is made of columns: name each by its key path, such as ‘\\.title’"
    case .secondFullText(let model):
      "‘\(model)’ has one full-text index: name all its properties in one #FullText"
    }
  }
}

/// A keystroke that makes a refused declaration right.
struct Remedy: FixItMessage {
  let message: String
  var fixItID: MessageID { MessageID(domain: "Quire", id: "remedy") }

  /// Leaves the node out, with the blank behind it.
  static func remove(_ node: some SyntaxProtocol, _ message: String) -> FixIt {
    replace(node, by: TokenSyntax(.identifier(""), leadingTrivia: node.leadingTrivia, presence: .present), message)
  }

  /// Writes something else in the node's place: what stands around it stays.
  static func write(_ text: String, for node: some SyntaxProtocol, _ message: String? = nil) -> FixIt {
    let token = TokenSyntax(
      .identifier(text), leadingTrivia: node.leadingTrivia, trailingTrivia: node.trailingTrivia, presence: .present)
    return replace(node, by: token, message ?? "write ‘\(text)’")
  }

  static func replace(_ old: some SyntaxProtocol, by new: some SyntaxProtocol, _ message: String) -> FixIt {
    FixIt(message: Remedy(message: message), changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
  }
}

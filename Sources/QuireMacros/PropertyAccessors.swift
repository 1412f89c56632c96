import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The storage and the accessors of one property.
///
/// `willSet` and `didSet` of the source are called from the setter, as in a class without macros. They are not put on
/// the storage, where taking a merged value would call them in the middle of a move.
struct PropertyAccessors {
  let property: PropertySyntax
  let model: String
  /// The property's number; nil for a transient one.
  let position: String?
  let context: any MacroExpansionContext

  init?(_ declaration: some DeclSyntaxProtocol, position: String?, in context: some MacroExpansionContext) {
    guard let property = declaration.as(VariableDeclSyntax.self).flatMap(PropertySyntax.init),
      let model = context.lexicalContext.first?.as(ClassDeclSyntax.self)
    else { return nil }
    self.property = property
    self.model = model.name.text
    self.position = position
    self.context = context
  }

  /// Whether the storage is the value itself: the type is known, or never stored.
  private var isDirect: Bool { property.plain != nil || position == nil }

  /// The storage; beside it, where the source observes the property, whether an observer is running.
  var storage: [DeclSyntax] {
    // Every access is one load or one store, so there is nothing for a check at run time to find: it is as safe as with one.
    let head = "@safe @exclusivity(unchecked) private var \(property.storage)"
    let initial = property.initialValue?.description
    let declaration: String
    if isDirect {
      let type = property.type.map { ": \($0)" } ?? ""
      declaration = head + type + (initial.map { " = \($0)" } ?? "")
    } else {
      let type = property.type.map { ": Quire._Quire.Slot<\($0)>" } ?? ""
      let value = initial ?? (property.isOptional ? "nil" : nil)
      declaration = head + type + (value.map { " = Quire._Quire.Slot(\($0))" } ?? "")
    }
    let all = isObserved ? [declaration, "private var \(guardName) = false"] : [declaration]
    return all.map { DeclSyntax(verbatim: $0) }
  }

  var accessors: [AccessorDeclSyntax] {
    [initializer, getter, setter].map { AccessorDeclSyntax(verbatim: $0) }
  }

  private var initializer: String {
    """
    @storageRestrictions(initializes: \(property.storage))
    init(initialValue) {
    \(property.storage) = \(isDirect ? "initialValue" : "Quire._Quire.Slot(initialValue)")
    }
    """
  }

  /// The compiler refuses an unknown type at the declaration. If the value were returned directly, it would refuse the
  /// type here once more.
  private var getter: String {
    """
    get {
    if _quireState.isWatched {
    Quire._Quire.access(self, \(path))
    }
    \(isDirect ? "return \(value)" : "let value = \(value)\nreturn value")
    }
    """
  }

  private var setter: String {
    guard isObserved else { return "set {\n\(assignment)\n}" }
    // An observer that assigns its own property does not call itself, as in a class without macros.
    return """
      set {
      func _quireAssign() {
      \(assignment)
      }
      if \(guardName) {
      _quireAssign()
      return
      }
      \(guardName) = true
      defer {
      \(guardName) = false
      }
      \(willSet)\(oldValue)_quireAssign()
      \(didSet)}
      """
  }

  private var assignment: String {
    if !isDirect {
      return """
        guard \(admits) else {
        return
        }
        \(form).set(self, \(number), \(path), from: \(property.storage), to: newValue) {
        \(property.storage) = $0
        }
        """
    }
    let edit = position.map { ", \(admits), Quire._Quire.edit(self, \($0))" } ?? ""
    return """
      guard Quire._Quire.differs(\(comparison)newValue, \(property.storage))\(edit) else {
      return
      }
      guard let _quireTold = Quire._Quire.willSet(self, \(position ?? "nil"), \(path), from: \(property.storage), to: newValue) else {
      return
      }
      \(property.storage) = newValue
      Quire._Quire.didSet(self, \(path), _quireTold)
      """
  }

  // MARK: Pieces

  private var path: String { "\\\(model).\(property.reference)" }
  private var form: String { "\(property.formFunction)(\(path))" }
  /// Without a cost where the model has no rules: then this is a constant.
  private var admits: String { "Quire._Quire.admits(self, \(path), newValue)" }
  private var number: String { position ?? "0" }
  private var value: String {
    isDirect ? property.storage : "\(form).get(self, \(number), \(property.storage))"
  }
  private var comparison: String { property.plain.map { "\($0.comparison): " } ?? "" }
  private var isObserved: Bool { property.willSet != nil || property.didSet != nil }
  private var guardName: String { "_isObserving_" + property.name }

  private var willSet: String {
    let parameter = property.willSet?.parameters.map { "let \($0.name.text) = newValue\n" } ?? ""
    return call("_quireWillSet", property.willSet, parameter)
  }

  private var didSet: String { call("_quireDidSet", property.didSet) }

  /// The source's observer as a local function, so that a `return` in it ends it and nothing else; its lines are those
  /// of the source to the compiler and the debugger, which look at this copy of it only.
  private func call(_ name: String, _ observer: AccessorDeclSyntax?, _ parameter: String = "") -> String {
    guard let statements = observer?.body?.statements, let first = statements.first else { return "" }
    let body = context.placing(statements.trimmedDescription, at: first)
    return "func \(name)() {\n\(parameter)\(body)\n}\n\(name)()\n"
  }

  /// The value before, under the name `didSet` gives it, if it asks.
  private var oldValue: String {
    guard let observer = property.didSet, let body = observer.body else { return "" }
    let name = observer.parameters?.name.text ?? "oldValue"
    let asks = body.tokens(viewMode: .sourceAccurate).contains { $0.text == name }
    return asks ? "let \(name) = \(value)\n" : ""
  }
}

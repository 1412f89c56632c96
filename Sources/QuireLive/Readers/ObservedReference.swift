public import QuireModel

/// A ``Reference`` as a property: read and assigned like the optional that it is declared as.
///
///     @ObservedReference var current: Book?
///     if let book = current { print(book.title) }
///     current = Book("Solaris")
///     let token = $current.onDidChange { … }
///
/// Copies share what they refer to, and assigning does not mutate an enclosing struct. In an `@Observable` class, mark
/// it `@ObservationIgnored`: it does its own tracking. It owns nothing: initialized with an existing reference, it
/// shares that one as long as its owner exists, and reads nil afterwards.
@propertyWrapper public struct ObservedReference<Model: PersistentModel> {
  private enum Place {
    case own(Reference<Model>)
    case others(Others)
  }
  private struct Others { weak var reference: Reference<Model>? }
  private let place: Place

  /// Refers to the object, or to none.
  ///
  /// - Parameter context: Where an assigned object that is in no context is inserted; if nil, that of the first that has one.
  public init(wrappedValue: Model? = nil, in context: ModelContext? = nil) {
    place = .own(Reference(wrappedValue, in: context))
  }

  /// Refers to no object.
  public init() { self.init(wrappedValue: nil) }

  /// Shares an existing reference: observes what it refers to, and assigns it.
  public init(_ reference: Reference<Model>) { place = .others(Others(reference: reference)) }

  /// The object; nil where there is none, it was deleted, or the reference's owner has gone. Reading it is observed.
  public var wrappedValue: Model? {
    get { reference?.model }
    nonmutating set { reference?.model = newValue }
  }

  /// The reference itself; an empty one if its owner is gone.
  public var projectedValue: Reference<Model> { reference ?? Reference() }

  private var reference: Reference<Model>? {
    switch place {
    case .own(let reference): reference
    case .others(let others): others.reference
    }
  }
}

/// A ``Reference`` that belongs to its owner, made when it is first used.
///
///     @OwnedReference(in: context) var draft: Book? = Book("Untitled")
///
/// The declared object is made at the first read and at most once, however often an enclosing struct is copied; an
/// assignment before that replaces it. It lives as long as its owner, or until something else is assigned.
@propertyWrapper public struct OwnedReference<Model: PersistentModel> {
  private final class Box {
    private var make: (() -> Model?)?
    private weak var context: ModelContext?
    private var made: Reference<Model>?

    init(_ make: @escaping () -> Model?, _ context: ModelContext?) {
      self.make = make
      self.context = context
    }

    var reference: Reference<Model> {
      if let made { return made }
      let make = make.take()
      return keep(Reference(make?(), in: context))
    }

    func assign(_ model: Model?) {
      if let made { return made.model = model }
      make = nil
      _ = keep(Reference(model, in: context))
    }

    private func keep(_ reference: Reference<Model>) -> Reference<Model> {
      made = reference
      return reference
    }
  }
  private let box: Box

  /// Declares the object without making it: the expression runs at the first read, at most once.
  ///
  /// - Parameter context: Where an assigned object that is in no context is inserted; if nil, that of the first that has one.
  public init(wrappedValue make: @autoclosure @escaping () -> Model?, in context: ModelContext? = nil) {
    box = Box(make, context)
  }

  /// Refers to no object until one is assigned.
  public init(in context: ModelContext? = nil) { box = Box({ nil }, context) }

  /// Refers to no object until one is assigned, of whichever context.
  public init() { self.init(in: nil) }

  /// The object; nil where there is none or it was deleted. The first read makes the declared one. Observed.
  public var wrappedValue: Model? {
    get { box.reference.model }
    nonmutating set { box.assign(newValue) }
  }

  /// The reference itself, to hand on or to listen to. Makes the declared object.
  public var projectedValue: Reference<Model> { box.reference }
}

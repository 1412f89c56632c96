import Quire

// Declarations that are rare, each seen in some project: values of Foundation's types, names that are words of Swift or
// of no alphabet, conformances of their own.

@available(macOS 14, iOS 17, *)
@Model
public final class Specimen: @unchecked Sendable {
  #Unique<Specimen>([\.code], [])

  @Attribute(.unique)  // the number on the label
  public var code: UUID
  @Attribute(.externalStorage)
  /// As it was scanned.
  public private(set) var scan: Data?
  public var range: ClosedRange<Int> = 0...1
  public var matrix: [[Double]] = [[1]]
  public var byShelf: [String: [Int]] = [:]
  public var length = Measurement<UnitLength>(value: 1, unit: .meters)
  public var zone: TimeZone = TimeZone(secondsFromGMT: 3600)!
  public var locale: Locale?
  public var parts = DateComponents(year: 1, month: 2)
  public var interval: DateInterval?
  public var finder: PersonNameComponents?
  public var pages = IndexSet([1, 3])
  public var boiled: Duration = .seconds(1)
  public var place: CGPoint = .zero
  public var size = CGSize.zero
  public var words = Set<String>()
  public var kinds: Set<Kind> = []
  public var kind = Kind.stone
  public var found = Date.distantPast
  public var key = UUID().uuidString
  public var half = 0.5 as Float
  public var wait: TimeInterval = 60 * 5
  public var greeting = Specimen.standardGreeting
  public var marks: Marks = []
  public var shape: Shape = .round(radius: 1)
  public var tree: Tree = .leaf
  public var limits = Limits()
  public var `default`: Int = 0
  public var `in`: String?
  public var order = 0
  public var group: String = ""
  public var größe = 1
  public var 名前: String = ""
  @Attribute(.unique, .preserveValueOnDeletion, originalName: "key_name") public var slug: String = ""
  @Transient public var isRead: Bool { scan != nil }

  static let standardGreeting = "hello"
  static var inOrder: FetchDescriptor<Specimen> { FetchDescriptor(sortBy: [SortDescriptor(\.order)]) }

  public init(code: UUID = .init()) { self.code = code }

  public enum Kind: String, Codable, CaseIterable, Identifiable {
    case stone, bone
    public var id: Self { self }
  }
  public struct Marks: OptionSet, Codable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    static let torn = Marks(rawValue: 1)
  }
  public enum Shape: Codable, Hashable { case round(radius: Double), flat(Double, Double), none }
  public indirect enum Tree: Codable, Hashable { case leaf, node(Tree, Tree) }
  public struct Limits: Codable, Hashable { var least = -Double.infinity, most = Double.infinity }
}

@Model
final class Cabinet {
  var name: String
  @Relationship(.unique, deleteRule: .cascade) var lock: Lock?
  @Relationship var drawers = [Drawer]()
  init(name: String) { self.name = name }
}

extension Cabinet {
  convenience init() { self.init(name: "") }
}

@Model final class Lock {
  var number: Int
  init(number: Int) { self.number = number }
}

@Model
final class Drawer: Codable, Comparable, CustomStringConvertible {
  var label: String
  var cabinet: Cabinet? { didSet { moves += 1 } }
  var moves = 0
  enum CodingKeys: String, CodingKey { case label }

  init(label: String) { self.label = label }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    label = try container.decode(String.self, forKey: .label)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(label, forKey: .label)
  }

  static func < (a: Drawer, b: Drawer) -> Bool { a.label < b.label }
  static func == (a: Drawer, b: Drawer) -> Bool { a.label == b.label }
  func hash(into hasher: inout Hasher) { hasher.combine(label) }
  var description: String { label }
}

@Model private final class Hidden {
  var number: Int
  init(number: Int) { self.number = number }
}

// As where some platforms have no SwiftData.
#if canImport(Foundation)
  @Model
#endif
final class Sketch {
  #Unique<Sketch>([\.title])
  @Attribute(originalName: "name") var title: String
  @Transient var isOpen = false
  init(title: String) { self.title = title }
}

/// A data layer as view models share one.
@MainActor
final class Collection {
  let container: ModelContainer
  var context: ModelContext { container.mainContext }

  init(inMemory: Bool = false) throws {
    let schema = Schema([Specimen.self, Cabinet.self, Drawer.self, Lock.self, Hidden.self])
    container = try ModelContainer(
      for: schema, configurations: [ModelConfiguration(schema: schema, isStoredInMemoryOnly: inMemory)])
  }

  var path: String { container.configurations.first?.url.path(percentEncoded: false) ?? "" }
  var names: [String] { container.schema.entities.map(\.name) }

  func hide(_ number: Int) { context.insert(Hidden(number: number)) }

  func clear(_ types: [any PersistentModel.Type]) throws {
    for type in types { try context.delete(model: type) }
  }

  func all<T: PersistentModel>(
    _ type: T.Type, where predicate: Predicate<T>? = nil, by order: [SortDescriptor<T>] = [], limit: Int? = nil
  ) throws -> [T] {
    var descriptor = FetchDescriptor<T>(predicate: predicate, sortBy: order)
    descriptor.fetchLimit = limit
    return try context.fetch(descriptor)
  }

  func relabel() throws {
    try context.enumerate(FetchDescriptor<Drawer>(), batchSize: 10, allowEscapingMutations: true) {
      $0.label = $0.label.uppercased()
    }
    try context.save()
  }

  func add(_ model: any PersistentModel) throws -> PersistentIdentifier {
    context.insert(model)
    if context.hasChanges { try context.save() }
    return model.persistentModelID
  }
}

import Quire

enum Kind: String, Codable { case novel, poem }
enum Level: Int, Codable { case low = -1, high = 1 }

struct Place: Codable, Equatable {
  var street: String
  var floor: Int?
}

/// One property of every type a column can hold, and its optional.
@Model class Everything {
  var text = ""
  var int = 0
  var int8: Int8 = 0
  var int16: Int16 = 0
  var int32: Int32 = 0
  var int64: Int64 = 0
  var uint8: UInt8 = 0
  var uint32: UInt32 = 0
  var flag = false
  var double = 0.0
  var float: Float = 0
  var date = Date(timeIntervalSince1970: 0)
  var uuid = UUID(uuidString: "00000000-0000-0000-0000-000000000000")!
  var url = URL(string: "https://example.org")!
  var decimal = Decimal(0)
  var data = Data()
  var genre = Kind.novel
  var rank = Level.low
  var place = Place(street: "")
  var words: [String] = []
  var numbers: [Int] = []
  var table: [String: Int] = [:]

  var maybeText: String?
  var maybeInt: Int?
  var maybeFlag: Bool?
  var maybeDouble: Double?
  var maybeFloat: Float?
  var maybeDate: Date?
  var maybeUUID: UUID?
  var maybeURL: URL?
  var maybeDecimal: Decimal?
  var maybeData: Data?
  var maybeGenre: Kind?
  var maybeRank: Level?
  var maybePlace: Place?
  var maybeWords: [String]?
  init() {}
}

enum Names {
  /// Names that are types of the standard library too, nested, not final.
  @Model class Task {
    var title: String
    var actor: Actor?
    init(_ title: String) { self.title = title }
  }

  @Model final class Actor {
    var name: String
    var tasks: [Task] = []
    init(name: String) { self.name = name }
  }
}

/// A model with an `id` of its own.
@Model final class Ticket {
  @Attribute(.unique) var id: UUID
  var next: Ticket?
  init(id: UUID = UUID()) { self.id = id }
}

@Model final class Coded {
  var id: String
  @Attribute(column: "the label") var label: String
  var order: Int
  init(_ id: String, label: String, order: Int) {
    self.id = id
    self.label = label
    self.order = order
  }
}

/// The books all cases speak of: the same ones in every run and for every variant.
///
/// Titles are 22 to 28 bytes, so that each is a heap string; one book in seven is available and from after 1990.
struct Workload {
  static let authorCount = 5_000

  private var random: SplitMix
  private var nextID: Int64

  /// Makes books with the keys from `first` on; the same seed makes the same books.
  init(seed: UInt64 = 1, firstID first: Int64 = 1) {
    random = SplitMix(seed: seed)
    nextID = first
  }

  mutating func nextBook() -> BookRow {
    defer { nextID += 1 }
    return BookRow(
      id: nextID, title: Self.title(&random), authorID: Int64.random(in: 1...Int64(Self.authorCount), using: &random),
      year: Int.random(in: 1900...2026, using: &random),
      rating: Double(Int.random(in: 100...500, using: &random)) / 100,
      isAvailable: Bool.random(using: &random))
  }

  mutating func books(_ count: Int) -> [BookRow] {
    (0..<count).map { _ in nextBook() }
  }

  /// All keys of a table of `count` books in an order of no pattern.
  static func shuffledKeys(_ count: Int) -> [Int64] {
    var random = SplitMix(seed: 7)
    return (1...Int64(count)).shuffled(using: &random)
  }

  static func authorName(_ id: Int) -> String { "Author Number \(id)" }

  /// A title of two words and digits.
  static func title(_ random: inout SplitMix) -> String {
    let first = adjectives.randomElement(using: &random)!
    let second = nouns.randomElement(using: &random)!
    return title("\(first) \(second) ", &random)
  }

  /// Another title that sorts near this one: the same words, other digits.
  static func title(near title: String, _ random: inout SplitMix) -> String {
    self.title(String(title.prefix { !$0.isNumber }), &random)
  }

  private static func title(_ words: String, _ random: inout SplitMix) -> String {
    let length = Int.random(in: 22...28, using: &random)
    let digits = String(random.next() % 90_000_000_000_000 + 10_000_000_000_000)
    return words + digits.prefix(length - words.utf8.count)
  }

  private static let adjectives = [
    "Amber", "Ancient", "Bitter", "Blue", "Bright", "Broken", "Burning", "Calm", "Cold", "Crimson", "Dark", "Distant",
    "Early", "Empty", "Fallen", "Far", "Final", "Gentle", "Golden", "Green", "Hidden", "Hollow", "Iron", "Late", "Lost",
    "Quiet", "Red", "Secret", "Silent", "Silver", "White", "Winter",
  ]
  private static let nouns = [
    "Bridge", "City", "Clock", "Coast", "Country", "Door", "Field", "Fire", "Forest", "Garden", "Harbour", "House",
    "Island", "Journey", "Lake", "Letter", "Library", "Light", "Machine", "Mirror", "Moon", "Morning", "Night", "Ocean",
    "River", "Road", "Room", "Shore", "Stone", "Street", "Tower", "Valley",
  ]
}

/// A small generator with a seed, so that runs repeat (Steele, Lea, Flood: SplitMix64).
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}

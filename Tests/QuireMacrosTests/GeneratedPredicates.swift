/// Predicates as a generator writes them: up to twelve comparisons of optionals with values, of paths, of sums, of lists.
struct GeneratedPredicates {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  private mutating func below(_ limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(limit))
  }

  private mutating func one(of texts: [String]) -> String { texts[below(texts.count)] }

  private mutating func comparison(_ row: String) -> String {
    switch below(9) {
    case 0: return "\(row).subtitle \(one(of: ["==", "!="])) \"x\""
    case 1: return "\(row).title == \(row).name"
    case 2: return "\(row).weight \(one(of: ["==", "!="])) \(row).\(one(of: ["height", "rating"]))"
    case 3: return "\(row).rating == \(row).weight + 1"
    case 4: return "\(row).pages * 2 - 1 \(one(of: ["<", ">=", "=="])) \(row).pages + limit"
    case 5: return "(\(row).year ?? 0) / 10 == \(below(200))"
    case 6: return "\(row).author?.\(one(of: ["name == \"k\"", "age == 4", "name == \(row).title"]))"
    case 7: return "\(row).tags.contains { tag in tag.word == \"a\" && tag.rank == \(below(9)) }"
    default:
      let conditions = ["isRead", "isRead == false", "kind == .poem", "title.hasPrefix(\"d\")"]
      return one(of: ["", "!"]) + "(\(row).\(one(of: conditions)))"
    }
  }

  mutating func next(_ row: String) -> String {
    var text = comparison(row)
    for _ in 0..<below(12) { text += " \(one(of: ["&&", "||"])) " + comparison(row) }
    return text
  }

  /// What they are asked of.
  static let models = """
    import Quire
    enum Kind: String, Codable { case novel, poem }
    @Model final class Tag { var word = ""; var rank: Int?; init() {} }
    @Model final class Author { var name = ""; var age: Int?; init() {} }
    @Model final class Book {
      var title = ""
      var name: String?
      var subtitle: String?
      var year: Int?
      var pages = 0
      var weight = 0.0
      var height: Double?
      var rating: Double?
      var isRead = false
      var kind = Kind.novel
      var author: Author?
      var tags: [Tag] = []
      init() {}
    }

    """
}

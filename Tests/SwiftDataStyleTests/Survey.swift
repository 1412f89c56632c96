import Quire

// A form with more fields than a machine word has bits, as medical and survey apps have them, and references that are weak.

@Model final class Survey {
  var answer1 = 0
  var answer2 = 0
  var answer3 = 0
  var answer4 = 0
  var answer5 = 0
  var answer6 = 0
  var answer7 = 0
  var answer8 = 0
  var answer9 = 0
  var answer10 = 0
  var answer11 = 0
  var answer12 = 0
  var answer13 = 0
  var answer14 = 0
  var answer15 = 0
  var answer16 = 0
  var answer17 = 0
  var answer18 = 0
  var answer19 = 0
  var answer20 = 0
  var answer21 = 0
  var answer22 = 0
  var answer23 = 0
  var answer24 = 0
  var answer25 = 0
  var answer26 = 0
  var answer27 = 0
  var answer28 = 0
  var answer29 = 0
  var answer30 = 0
  var answer31 = 0
  var answer32 = 0
  var answer33 = 0
  var answer34 = 0
  var answer35 = 0
  var answer36 = 0
  var answer37 = 0
  var answer38 = 0
  var answer39 = 0
  var answer40 = 0
  var answer41 = 0
  var answer42 = 0
  var answer43 = 0
  var answer44 = 0
  var answer45 = 0
  var answer46 = 0
  var answer47 = 0
  var answer48 = 0
  var answer49 = 0
  var answer50 = 0
  var answer51 = 0
  var answer52 = 0
  var answer53 = 0
  var answer54 = 0
  var answer55 = 0
  var answer56 = 0
  var answer57 = 0
  var answer58 = 0
  var answer59 = 0
  var answer60 = 0
  @Attribute(.unique) var sheet: String
  var note: String?
  var givenOn: Date?
  var answer61: Int?
  var answer62: Int?
  var answer63: Int?
  var answer64: Int?
  var answer65: Int?
  var answer66: Int?
  var answer67: Int?
  var answer68: Int?
  var answer69: Int?
  var answer70: Int?
  var answer71: Int?
  var answer72: Int?
  var answer73: Int?
  var answer74: Int?
  var answer75: Int?
  var answer76: Int?
  var answer77: Int?
  var answer78: Int?
  var answer79: Int?
  var answer80: Int?
  var answer81: Int?
  var answer82: Int?
  var answer83: Int?
  var answer84: Int?
  var answer85: Int?
  var answer86: Int?
  var answer87: Int?
  var answer88: Int?
  var answer89: Int?
  var answer90: Int?
  var answer91: Int?
  var answer92: Int?
  var answer93: Int?
  var answer94: Int?
  var answer95: Int?
  var site: Site?
  var comments: [String] = []
  @Attribute(.unique) var code: UUID = UUID()

  init(sheet: String) { self.sheet = sheet }
}

@Model final class Site {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Survey.site) var surveys: [Survey] = []
  weak var parent: Site?

  init(name: String, parent: Site? = nil) {
    self.name = name
    self.parent = parent
  }
}

extension FetchDescriptor where T == Survey {
  static func of(site name: String) -> FetchDescriptor<Survey> {
    FetchDescriptor(predicate: #Predicate { $0.site?.name == name }, sortBy: [SortDescriptor(\.answer90)])
  }
}

extension FetchDescriptor {
  func limited(to count: Int) -> Self where T: PersistentModel {
    var copy = self
    copy.fetchLimit = count
    return copy
  }
}

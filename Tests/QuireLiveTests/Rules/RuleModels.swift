import Foundation
import Quire

enum RuleStage: String, Codable, CaseIterable { case idea, doing, done }

struct RuleSize: Codable, Hashable {
  var width = 0
  var words: [String] = []
}

@Model final class RuleTeam {
  #Unique<RuleTeam>([\.code])
  var code: String?
  var title = ""
  @Relationship(deleteRule: .cascade, inverse: \RuleJob.team) var jobs: [RuleJob] = []
  init() {}
}

@Model final class RulePerson {
  @Attribute(.unique) var name = ""
  var age: Int?
  @Relationship(deleteRule: .deny, inverse: \RuleJob.owner) var owned: [RuleJob] = []
  @Relationship(deleteRule: .nullify, inverse: \RuleJob.helper, order: \RuleJob.place) var helped: [RuleJob] = []
  @Relationship(deleteRule: .noAction, inverse: \RuleJob.witness) var seen: [RuleJob] = []
  init() {}
}

@Model final class RuleJob {
  #Unique<RuleJob>([\.room, \.slot], [\.team, \.rank])
  #Index<RuleJob>([\.note], [\.stage, \.due])
  #FullText<RuleJob>([\.note])
  var room: Int?
  var slot = 0
  var rank: Int?
  var note = ""
  var stage = RuleStage.idea
  var price: Decimal?
  var place = 0.0
  var due: Date?
  var data: Data?
  var link: URL?
  var size: RuleSize?
  var team: RuleTeam?
  var owner: RulePerson?
  var helper: RulePerson?
  var witness: RulePerson?
  var home: RuleTeam?
  var parent: RuleJob?
  @Relationship(deleteRule: .cascade, inverse: \RuleJob.parent) var children: [RuleJob] = []
  @Relationship(deleteRule: .cascade) var card: RuleCard?
  @Relationship(maximumModelCount: 3, inverse: \RuleTag.jobs) var tags: [RuleTag] = []
  init() {}
}

@Model final class RuleTag {
  @Attribute(.unique) var word: String?
  var jobs: [RuleJob] = []
  var similar: [RuleTag] = []
  init() {}
}

@Model final class RuleCard {
  #Unique<RuleCard>([\.job])
  var text = ""
  @Relationship(inverse: \RuleJob.card) var job: RuleJob?
  init() {}
}

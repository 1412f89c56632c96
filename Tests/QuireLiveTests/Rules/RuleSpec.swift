import Foundation
import Quire

/// What a property holds: nil, a value, or the row of this number.
enum RuleCell: Hashable, CustomStringConvertible {
  case none
  case value(AnyHashable)
  case row(Int)

  var description: String {
    switch self {
    case .none: "nil"
    case .value(let value): "\(value)"
    case .row(let number): "#\(number)"
    }
  }
}

enum RuleKind: Int, CaseIterable { case team, person, job, tag, card }

/// A property: its column, what it may hold, and how it is read and set.
@MainActor struct RuleField {
  let name: String
  var values: [RuleCell] = []
  /// Of a reference: its target's kind, and what the deletion of the target does.
  var target: RuleKind?
  var rule = DeleteRule.nullify
  var isOneToOne = false
  var get: (any PersistentModel) -> RuleCell = { _ in .none }
  var set: (any PersistentModel, RuleCell) -> Void = { _, _ in }
  var getObject: (any PersistentModel) -> (any PersistentModel)? = { _ in nil }
  var setObject: (any PersistentModel, (any PersistentModel)?) -> Void = { _, _ in }
  /// The property of the order of the target's list.
  var order: String?
  /// The list of the target, if it has one.
  var list: ((any PersistentModel) -> [any PersistentModel])?
  var setList: ((any PersistentModel, [any PersistentModel]) -> Void)?

  static func value<Model: PersistentModel, Value: Hashable>(
    _ name: String, _ path: ReferenceWritableKeyPath<Model, Value>, _ values: [Value]
  ) -> Self {
    Self(
      name: name, values: values.map { .value(AnyHashable($0)) },
      get: { .value(AnyHashable(($0 as! Model)[keyPath: path])) },
      set: { model, cell in
        guard case .value(let value) = cell else { return }
        (model as! Model)[keyPath: path] = value.base as! Value
      })
  }

  static func optional<Model: PersistentModel, Value: Hashable>(
    _ name: String, _ path: ReferenceWritableKeyPath<Model, Value?>, _ values: [Value]
  ) -> Self {
    Self(
      name: name, values: values.map { .value(AnyHashable($0)) } + [.none],
      get: { ($0 as! Model)[keyPath: path].map { .value(AnyHashable($0)) } ?? .none },
      set: { model, cell in
        if case .value(let value) = cell {
          (model as! Model)[keyPath: path] = (value.base as! Value)
        } else {
          (model as! Model)[keyPath: path] = nil
        }
      })
  }

  static func reference<Model: PersistentModel, Target: PersistentModel>(
    _ name: String, _ path: ReferenceWritableKeyPath<Model, Target?>, _ kind: RuleKind,
    _ rule: DeleteRule, list: ReferenceWritableKeyPath<Target, [Model]>? = nil,
    one: ReferenceWritableKeyPath<Target, Model?>? = nil, order: String? = nil
  ) -> Self {
    Self(
      name: name, target: kind, rule: rule, isOneToOne: one != nil, getObject: { ($0 as! Model)[keyPath: path] },
      setObject: { ($0 as! Model)[keyPath: path] = $1 as! Target? }, order: order,
      list: list.map { list in { ($0 as! Target)[keyPath: list] } }
        ?? one.map { one in { ($0 as! Target)[keyPath: one].map { [$0] } ?? [] } },
      setList: list.map { list in { ($0 as! Target)[keyPath: list] = $1.map { $0 as! Model } } }
        ?? one.map { one in { ($0 as! Target)[keyPath: one] = $1.first as! Model? } })
  }
}

/// A many-to-many relationship.
@MainActor struct RuleJoin {
  let table: String
  let columns: (String, String)
  let kinds: (RuleKind, RuleKind)
  let most: Int
  let get: (any PersistentModel) -> [any PersistentModel]
  let set: (any PersistentModel, [any PersistentModel]) -> Void
  let getOther: ((any PersistentModel) -> [any PersistentModel])?
  let setOther: ((any PersistentModel, [any PersistentModel]) -> Void)?

  static func make<A: PersistentModel, B: PersistentModel>(
    _ table: String, _ columns: (String, String), _ kinds: (RuleKind, RuleKind), most: Int = .max,
    _ path: ReferenceWritableKeyPath<A, [B]>, _ other: ReferenceWritableKeyPath<B, [A]>? = nil
  ) -> Self {
    Self(
      table: table, columns: columns, kinds: kinds, most: most, get: { ($0 as! A)[keyPath: path] },
      set: { ($0 as! A)[keyPath: path] = $1.map { $0 as! B } },
      getOther: other.map { other in { ($0 as! B)[keyPath: other] } },
      setOther: other.map { other in { ($0 as! B)[keyPath: other] = $1.map { $0 as! A } } })
  }
}

/// The declared rules, as data.
@MainActor struct RuleSpec {
  static let types: [RuleKind: any PersistentModel.Type] = [
    .team: RuleTeam.self, .person: RulePerson.self, .job: RuleJob.self, .tag: RuleTag.self, .card: RuleCard.self,
  ]
  static func table(_ kind: RuleKind) -> String { "rule_\(kind)" }

  static let days = (0..<4).map { Date(timeIntervalSinceReferenceDate: Double($0) * 86_400.125) }
  static let fields: [RuleKind: [RuleField]] = [
    .team: [
      .optional("code", \RuleTeam.code, ["a", "b", "c", "d"]), .value("title", \RuleTeam.title, ["", "x", "Ω", "z"]),
    ],
    .person: [
      .value("name", \RulePerson.name, ["", "ann", "bob", "cy", "dee", "eve"]),
      .optional("age", \RulePerson.age, [0, 1, 2]),
    ],
    .job: [
      .optional("room", \RuleJob.room, [0, 1]), .value("slot", \RuleJob.slot, [0, 1, 2, 3, 4]),
      .optional("rank", \RuleJob.rank, [0, 1, 2, 3]),
      .value("note", \RuleJob.note, ["", "red fish", "blue fish", "one red", "dune"]),
      .value("stage", \RuleJob.stage, RuleStage.allCases),
      .optional("price", \RuleJob.price, [0, 2.5, 10, -1]), .value("place", \RuleJob.place, [0, 1, 1.5]),
      .optional("due", \RuleJob.due, days),
      .optional("data", \RuleJob.data, [Data(), Data([0, 1]), Data([255])]),
      .optional("link", \RuleJob.link, [URL(string: "http://a.example/b?c=%20")!, URL(string: "x")!]),
      .optional("size", \RuleJob.size, [RuleSize(), RuleSize(width: 2, words: ["q", "'"])]),
      .reference("team", \RuleJob.team, .team, .cascade, list: \RuleTeam.jobs),
      .reference("owner", \RuleJob.owner, .person, .deny, list: \RulePerson.owned),
      .reference("helper", \RuleJob.helper, .person, .nullify, list: \RulePerson.helped, order: "place"),
      .reference("witness", \RuleJob.witness, .person, .noAction, list: \RulePerson.seen),
      .reference("home", \RuleJob.home, .team, .nullify),
      .reference("parent", \RuleJob.parent, .job, .cascade, list: \RuleJob.children),
    ],
    .tag: [.optional("word", \RuleTag.word, ["p", "q", "r", "s", "t"])],
    .card: [
      .value("text", \RuleCard.text, ["", "hi"]),
      .reference("job", \RuleCard.job, .job, .cascade, one: \RuleJob.card),
    ],
  ]
  static let uniques: [RuleKind: [[String]]] = [
    .team: [["code"]], .person: [["name"]], .job: [["room", "slot"], ["team", "rank"]], .tag: [["word"]],
    .card: [["job"]],
  ]
  static let joins: [RuleJoin] = [
    .make("rule_job_tags", ("rule_job_id", "rule_tag_id"), (.job, .tag), most: 3, \RuleJob.tags, \RuleTag.jobs),
    .make("rule_tag_similar", ("rule_tag_id", "similar_id"), (.tag, .tag), \RuleTag.similar),
  ]

  static func place(_ kind: RuleKind, _ name: String) -> Int { fields[kind]!.firstIndex { $0.name == name }! }
}

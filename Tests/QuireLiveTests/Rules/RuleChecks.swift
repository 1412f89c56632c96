import Foundation
import Quire

extension RuleRun {
  /// Whether all that a side's context shows is as in the plain values.
  func check(_ side: RuleSide) throws {
    let view = side.view
    for kind in RuleKind.allCases {
      func fetch<Model: PersistentModel>(_: Model.Type) throws -> [any PersistentModel] {
        try side.context.fetch(FetchDescriptor<Model>())
      }
      let found = try fetch(RuleSpec.types[kind]!)
      let numbers = try found.map { object in
        guard let number = number(side, kind, object) else {
          throw fail("\(side.name): unknown \(object.persistentModelID)")
        }
        return number
      }
      if numbers.sorted() != view.numbers(kind) {
        throw fail("\(side.name): \(kind)s are \(numbers.sorted()), expected \(view.numbers(kind))")
      }
      for (number, object) in zip(numbers, found) { try check(side, view, kind, number, object) }
    }
    try checkLists(side, view)
    try checkFetches(side, view)
    if !side.context.hasChanges, view != side.base { throw fail("\(side.name) says that it has no changes") }
    if side.pending.isEmpty, side.context.hasChanges { throw fail("\(side.name) says that it has changes") }
    let errors = side.context.drainDeferredErrors()
    if !errors.isEmpty { throw fail("\(side.name): \(errors)") }
    try side.live.check(side.store, side.name)
  }

  private func check(
    _ side: RuleSide, _ view: RuleState, _ kind: RuleKind, _ number: Int, _ object: any PersistentModel
  )
    throws
  {
    if object.isDeleted { throw fail("\(side.name): #\(number) says that it is deleted") }
    if side.objects[number].map({ $0 !== object }) ?? false { throw fail("\(side.name): #\(number) is two objects") }
    for (place, field) in RuleSpec.fields[kind]!.enumerated() {
      let cell = view.rows[number]!.cells[place]
      if field.target == nil {
        let found = field.get(object)
        if found != cell { throw fail("\(side.name): #\(number).\(field.name) is \(found), expected \(cell)") }
        continue
      }
      let found = field.getObject(object)
      if let target = view.target(number, field.name) {
        if found.flatMap({ self.number(side, field.target!, $0) }) != target || found?.isDeleted == true {
          throw fail(
            "\(side.name): #\(number).\(field.name) is \(found.map { "\($0.persistentModelID)" } ?? "nil"), expected #\(target)"
          )
        }
      } else if let found, !found.isDeleted {
        throw fail("\(side.name): #\(number).\(field.name) is \(found.persistentModelID), expected nil")
      }
    }
  }

  private func checkLists(_ side: RuleSide, _ view: RuleState) throws {
    func compare(_ found: [any PersistentModel], _ kind: RuleKind, _ expected: [Int], _ what: String) throws {
      let numbers = found.map { number(side, kind, $0) ?? -1 }.sorted()
      if numbers != expected.sorted() { throw fail("\(side.name): \(what) is \(numbers), expected \(expected)") }
    }
    for kind in RuleKind.allCases {
      for field in RuleSpec.fields[kind]! where field.list != nil {
        for target in view.numbers(field.target!) where chance(50) {
          let (found, what) = (field.list!(try object(side, target)), "the list of #\(target).\(field.name)")
          let expected = view.numbers(kind).filter { view[$0, field.name] == .row(target) }
          if field.isOneToOne, expected.count > 1, let one = found.first.flatMap({ number(side, kind, $0) }) {
            // Given to another one here than elsewhere: no save makes both of them true.
            if !expected.contains(one) { throw fail("\(side.name): \(what) is \(one), expected one of \(expected)") }
          } else {
            try compare(found, kind, expected, what)
          }
          if field.order != nil {
            let places = found.map(self.place)
            if places != places.sorted() { throw fail("\(side.name): \(what) is in the order of \(places)") }
          }
        }
      }
    }
    for (place, join) in RuleSpec.joins.enumerated() {
      for number in view.numbers(join.kinds.0) where chance(50) {
        try compare(
          join.get(try object(side, number)), join.kinds.1,
          view.links.filter { $0.join == place && $0.from == number }.map(\.to), "\(join.table) of #\(number)")
      }
      guard let getOther = join.getOther else { continue }
      for number in view.numbers(join.kinds.1) where chance(50) {
        try compare(
          getOther(try object(side, number)), join.kinds.0,
          view.links.filter { $0.join == place && $0.to == number }.map(\.from), "\(join.table) from #\(number)")
      }
    }
  }

  private func checkFetches(_ side: RuleSide, _ view: RuleState) throws {
    func compare<Model: PersistentModel>(
      _ what: String, _ kind: RuleKind, _ predicate: Predicate<Model>, _ isIn: (Int) -> Bool
    ) throws {
      let descriptor = FetchDescriptor(predicate: predicate)
      let found = try side.context.fetch(descriptor).map { number(side, kind, $0) ?? -1 }.sorted()
      let expected = view.numbers(kind).filter(isIn)
      if found != expected { throw fail("\(side.name): \(what): \(found), expected \(expected)") }
      let count = try side.context.fetchCount(descriptor)
      if count != expected.count { throw fail("\(side.name): \(what): count \(count), expected \(expected.count)") }
    }
    let (limit, day, word, stage) = (Decimal(2), RuleSpec.days[1], "p", RuleStage.doing)
    try compare("price > 2", .job, #Predicate<RuleJob> { ($0.price ?? 0) > limit }) {
      if case .value(let price) = view[$0, "price"] { (price.base as! Decimal) > limit } else { false }
    }
    try compare("due later", .job, #Predicate<RuleJob> { $0.due != nil && $0.due! > day }) {
      if case .value(let due) = view[$0, "due"] { (due.base as! Date) > day } else { false }
    }
    try compare("stage of the parent", .job, #Predicate<RuleJob> { $0.parent?.stage == stage }) {
      view.target($0, "parent").map { view[$0, "stage"] == .value(stage) } ?? false
    }
    try compare("team's code is a, or no owner", .job, #Predicate<RuleJob> { $0.team?.code == "a" || $0.owner == nil })
    {
      view.target($0, "team").map { view[$0, "code"] == .value("a") } ?? false || view.target($0, "owner") == nil
    }
    try compare("no witness", .job, #Predicate<RuleJob> { $0.witness == nil }) { view[$0, "witness"] == .none }
    try compare("helper is ann", .job, #Predicate<RuleJob> { $0.helper?.name == "ann" }) {
      view.target($0, "helper").map { view[$0, "name"] == .value("ann") } ?? false
    }
    try compare("tagged p", .job, #Predicate<RuleJob> { $0.tags.contains { $0.word == word } }) { job in
      view.links.contains { $0.join == 0 && $0.from == job && view[$0.to, "word"] == .value(word) }
    }
    try compare("with children", .job, #Predicate<RuleJob> { !$0.children.isEmpty && $0.card == nil }) { job in
      view.numbers(.job).contains { view[$0, "parent"] == .row(job) }
        && !view.numbers(.card).contains { view[$0, "job"] == .row(job) }
    }
    try compare("seen", .person, #Predicate<RulePerson> { $0.seen.count > 0 && $0.owned.isEmpty }) { person in
      view.numbers(.job).contains { view[$0, "witness"] == .row(person) }
        && !view.numbers(.job).contains { view[$0, "owner"] == .row(person) }
    }
    try compare("similar", .tag, #Predicate<RuleTag> { $0.similar.contains { $0.jobs.count > 0 } }) { tag in
      view.links.contains { link in
        link.join == 1 && link.from == tag && view.links.contains { $0.join == 0 && $0.to == link.to }
      }
    }
    try checkValues(side, view)
    if side.pending.isEmpty {
      let found = try side.context.fetch(RuleJob.search("red")).map { number(side, .job, $0) ?? -1 }.sorted()
      let expected = view.numbers(.job).filter { [.value("red fish"), .value("one red")].contains(view[$0, "note"]) }
      if found != expected { throw fail("\(side.name): search: \(found), expected \(expected)") }
    }
  }

  private func checkValues(_ side: RuleSide, _ view: RuleState) throws {
    let jobs = view.numbers(.job)
    func value<Value>(_ number: Int, _ name: String, _: Value.Type) -> Value? {
      if case .value(let value) = view[number, name] { value.base as? Value } else { nil }
    }
    let sum = try side.context.fetchSum(\RuleJob.price)
    let expected = jobs.reduce(Decimal(0)) { $0 + (value($1, "price", Decimal.self) ?? 0) }
    if sum != expected { throw fail("\(side.name): sum \(sum), expected \(expected)") }
    let least = try side.context.fetchMin(\RuleJob.slot)
    let slots = jobs.map { value($0, "slot", Int.self)! }
    if least != slots.min() { throw fail("\(side.name): least \(least ?? -1), expected \(slots.min() ?? -1)") }
    let found = try side.context.fetch(
      RuleJob.self, values: \.slot, \.team?.code, sortBy: [SortDescriptor(\.slot)], limit: 4)
    if found.map(\.0) != Array(slots.sorted().prefix(4)) {
      throw fail("\(side.name): values \(found), expected \(slots.sorted())")
    }
    let all = try side.context.fetch(RuleJob.self, values: \.slot, \.team?.code).map { "\($0)" }.sorted()
    let pairs = jobs.map { job in
      "\((value(job, "slot", Int.self)!, view.target(job, "team").flatMap { value($0, "code", String.self) }))"
    }.sorted()
    if all != pairs { throw fail("\(side.name): values \(all), expected \(pairs)") }
    let slot = 2
    let few = try side.context.fetch(
      FetchDescriptor<RuleJob>(
        predicate: #Predicate { $0.slot >= slot }, sortBy: [SortDescriptor(\.slot, order: .reverse)], fetchLimit: 3,
        fetchOffset: 1)
    ).map(\.slot)
    let wanted = Array(slots.filter { $0 >= 2 }.sorted(by: >).dropFirst().prefix(3))
    if few != wanted { throw fail("\(side.name): limited \(few), expected \(wanted)") }
    let words = try side.context.fetchDistinct(\RuleTag.word)
    let tags = Set(view.numbers(.tag).map { value($0, "word", String.self) })
    if words.count != tags.count || Set(words) != tags { throw fail("\(side.name): words \(words), expected \(tags)") }
  }

  /// Whether a new container, and SQLite's own checks, find the same in the file.
  func reopen() throws {
    sides = []
    try store.close()
    try other.close()
    let store = try ModelContainer(
      for: RuleTeam.self, RulePerson.self, RuleJob.self, RuleTag.self, RuleCard.self, configurations: configuration)
    try checkFile(store)
    let side = try RuleSide("reopened", store, ModelContext(store))
    side.base = file
    try check(side)
    let problems = try store.query(
      "SELECT * FROM pragma_integrity_check UNION ALL SELECT \"table\" FROM pragma_foreign_key_check")
    if problems.map(\.values) != [["ok"]] { throw fail("\(problems.map(\.values))") }
    try store.close()
  }

  /// Whether the file has the rows and links of the plain values.
  func checkFile(_ store: ModelContainer) throws {
    func cell(_ value: SQLValue) -> String { value == .null ? "nil" : "\(value)" }
    for kind in RuleKind.allCases {
      let fields = RuleSpec.fields[kind]!.filter {
        $0.target != nil
          || ["slot", "room", "rank", "age", "title", "note", "text", "code", "word", "name"].contains($0.name)
      }
      let columns = ["id"] + fields.map { $0.target == nil ? $0.name : "\($0.name)_id" }
      let rows = try store.query(
        SQL(verbatim: "SELECT \(columns.joined(separator: ", ")) FROM \(RuleSpec.table(kind)) ORDER BY id"))
      let found = rows.map { $0.values.map(cell) }
      let expected = file.numbers(kind).sorted { keys[$0]! < keys[$1]! }.map { number in
        [cell(.integer(keys[number]!))]
          + fields.map { field in
            switch file[number, field.name] {
            case .none: "nil"
            case .row(let target): cell(.integer(keys[target] ?? -1))
            case .value(let value):
              (value.base as? Int).map { cell(.integer(Int64($0))) } ?? cell(.text(value.base as! String))
            }
          }
      }
      if found != expected {
        let differing = zip(found, expected).first { $0 != $1 }
        throw fail(
          "file: \(kind): \(found.count) rows, expected \(expected.count); \(columns): \(String(describing: differing))"
        )
      }
    }
    for (place, join) in RuleSpec.joins.enumerated() {
      let found = try store.query(
        SQL(verbatim: "SELECT \(join.columns.0), \(join.columns.1) FROM \(join.table) ORDER BY 1, 2")
      ).map { $0.values.map(cell) }
      let expected = file.links.filter { $0.join == place }.map { [keys[$0.from]!, keys[$0.to]!] }
        .sorted { $0.lexicographicallyPrecedes($1) }.map { $0.map { cell(.integer($0)) } }
      if found != expected { throw fail("file: \(join.table): \(found), expected \(expected)") }
    }
  }
}

/// Makes a failing case small: whatever can be taken away while it still fails goes.
struct CaseShrinker {
  private(set) var smallest: RandomCase
  private let fault: RandomCase.Fault?
  private var runsLeft: Int

  /// - Parameter runs: After how many tries it stops, small or not.
  init(_ failing: RandomCase, fault: RandomCase.Fault?, runs: Int = 3000) {
    smallest = failing
    self.fault = fault
    runsLeft = runs
  }

  /// Fails as it should: where it makes no sense any more it does not.
  private mutating func fails(_ candidate: RandomCase) -> Bool {
    if runsLeft == 0 || candidate == smallest { return false }
    runsLeft -= 1
    guard let run = try? CaseRun(candidate, fault: fault), let problem = try? run.firstProblem() else { return false }
    return !problem.isEmpty
  }

  private mutating func keep(_ candidate: RandomCase) -> Bool {
    guard fails(candidate) else { return false }
    smallest = candidate
    return true
  }

  mutating func shrink() -> RandomCase {
    for question in smallest.questions {
      var one = smallest
      one.questions = [question]
      if keep(one) { break }
    }
    var before: RandomCase
    repeat {
      before = smallest
      remove(from: \.transactions)
      for place in smallest.transactions.indices {
        remove(from: \.transactions[place].statements)
        var told = smallest
        told.transactions[place].isTold = true
        _ = keep(told)
      }
      remove(from: \.rows)
      remove(from: \.extras)
      remove(from: \.questions)
      for place in smallest.questions.indices { simplify(place) }
      remove(from: \.tables)
      for place in smallest.tables.indices { simplifyTable(place) }
    } while smallest != before && runsLeft > 0
    return smallest
  }

  /// Takes out stretches, long ones first.
  private mutating func remove<Element>(from list: WritableKeyPath<RandomCase, [Element]>) {
    var length = smallest[keyPath: list].count
    while length > 0 {
      var start = 0
      while start < smallest[keyPath: list].count {
        var candidate = smallest
        let end = min(start + length, candidate[keyPath: list].count)
        candidate[keyPath: list].removeSubrange(start..<end)
        if !keep(candidate) { start += length }
      }
      length /= 2
    }
  }

  private mutating func simplify(_ place: Int) {
    func changed(_ change: (inout RandomCase.Question) -> Void) -> RandomCase {
      var candidate = smallest
      change(&candidate.questions[place])
      return candidate
    }
    while let filter = smallest.questions[place].filter {
      if keep(changed { $0.filter = nil }) { break }
      guard let simpler = filter.parts.first(where: { part in keep(changed { $0.filter = part }) }) else { break }
      _ = simpler
    }
    remove(from: \.questions[place].order)
    for term in smallest.questions[place].order.indices {
      _ = keep(changed { $0.order[term].path = .init(column: "id", type: .integer) })
    }
    _ = keep(changed { $0.group = nil })
    _ = keep(changed { $0.listens = false })
    _ = keep(changed { $0.offset = 0 })
    if !keep(changed { $0.limit = nil }) {
      while let limit = smallest.questions[place].limit, limit > 0, keep(changed { $0.limit = limit - 1 }) {}
    }
  }

  private mutating func simplifyTable(_ place: Int) {
    let table = smallest.tables[place].name
    for column in smallest.tables[place].columns.dropFirst().reversed() {
      var candidate = smallest
      candidate.tables[place].columns.removeAll { $0.name == column.name }
      for row in candidate.rows.indices where candidate.rows[row].table == table {
        candidate.rows[row].values[column.name] = nil
      }
      for place in candidate.transactions.indices {
        for at in candidate.transactions[place].statements.indices {
          candidate.transactions[place].statements[at].removeInserted(column.name, in: table)
        }
      }
      if keep(candidate) { continue }
      candidate = smallest
      for at in candidate.tables[place].columns.indices where candidate.tables[place].columns[at].name == column.name {
        candidate.tables[place].columns[at].rest = ""
      }
      _ = keep(candidate)
    }
    for row in smallest.rows.indices where smallest.rows[row].table == table {
      var plain = smallest
      plain.rows[row].values = plain.rows[row].values.filter { ["id", "a", "b"].contains($0.key) }
      _ = keep(plain)
    }
  }
}

extension String {
  /// Of an INSERT with named columns takes one out, with its value.
  fileprivate mutating func removeInserted(_ column: String, in table: String) {
    guard let match = wholeMatch(of: /(INSERT.* INTO (\w+)) \(([^()]*)\) VALUES \((.*)\)/), match.2 == table else {
      return
    }
    var names = match.3.split(separator: ", ")
    var values = match.4.split(separator: ", ", omittingEmptySubsequences: false)
    guard names.count == values.count, let place = names.firstIndex(where: { $0 == column }) else { return }
    names.remove(at: place)
    values.remove(at: place)
    self = "\(match.1) (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
  }
}

extension RandomCase.Condition {
  /// What is simpler and may serve in its place.
  fileprivate var parts: [RandomCase.Condition] {
    switch self {
    case .compare, .isNull, .oneOf, .contains, .starts: []
    case .not(let operand): [operand]
    case .all(let operands), .any(let operands): operands
    case .exists(let relation, let condition):
      condition == nil ? [] : [.exists(relation, nil)]
    case .count(let relation, let condition, let comparison, let number):
      [.exists(relation, condition)] + (condition == nil ? [] : [.count(relation, nil, comparison, number)])
    }
  }
}

import Quire
import TestSupport

// Relationships the shared fixture has not: of a class to itself, and many to many.

@Model final class Paper {
  var title: String
  var year = 0
  var parent: Paper?
  @Relationship(deleteRule: .cascade, inverse: \Paper.parent) var parts: [Paper] = []
  @Relationship(inverse: \Topic.papers) var topics: [Topic] = []
  init(_ title: String, year: Int = 0, parent: Paper? = nil) {
    self.title = title
    self.year = year
    self.parent = parent
  }
}

@Model final class Topic {
  var name: String
  var rank: Int?
  var papers: [Paper] = []
  init(_ name: String, rank: Int? = nil) {
    self.name = name
    self.rank = rank
  }
}

/// A store of papers and topics, and random writes to it.
@MainActor final class RandomPapers {
  let store: ModelContainer
  /// Whose live queries are watched.
  let context: ModelContext
  private let other: ModelContext
  private var random: Random
  /// What was done, for the message of a failure.
  private(set) var done: [String] = []

  static let texts = ["a", "b", "é", ""]

  init(seed: UInt64) throws {
    random = Random(seed: seed)
    store = try ModelContainer(
      for: Paper.self, Topic.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store, isolation: nil)
    other = ModelContext(store, isolation: nil)
    for number in 0..<6 { context.insert(Topic(random.pick(Self.texts), rank: number % 3 == 0 ? nil : number % 3)) }
    try context.save()
    for _ in 0..<5 { try write(in: context) }
  }

  func step() throws {
    done.removeAll()
    switch random.below(8) {
    case 0...2: try write(in: context)
    case 3: try write(in: other)
    case 4: for _ in 0..<2 + random.below(3) { sql() }
    default: sql()
    }
    try context.refresh()
  }

  private func any<Model: PersistentModel>(_ type: Model.Type, in context: ModelContext) throws -> Model? {
    try context.fetch(FetchDescriptor<Model>()).filter { !$0.isDeleted }.randomElement(using: &random)
  }

  private func write(in context: ModelContext) throws {
    for _ in 0..<random.pick([1, 1, 2, 5]) {
      let paper = try any(Paper.self, in: context)
      let choice = random.below(9)
      done.append("write \(choice) of \(paper?.persistentModelID.key ?? 0)")
      switch choice {
      case 0, 1:
        let paper = Paper(random.pick(Self.texts), year: random.below(5), parent: random.chance(2) ? paper : nil)
        context.insert(paper)
        if let topic = try any(Topic.self, in: context) { paper.topics = [topic] }
      case 2: paper?.title = random.pick(Self.texts)
      case 3: paper?.year = random.below(5)
      case 4:
        // Up to one that has no parent itself: no circles, whose cascade would take all.
        if let parent = try any(Paper.self, in: context), parent.parent == nil, parent !== paper {
          paper?.parent = random.chance(3) ? nil : parent
        }
      case 5: paper?.topics = try context.fetch(FetchDescriptor<Topic>()).filter { _ in random.chance(3) }
      case 6: if random.chance(3), let paper { context.delete(paper) }
      case 7: try any(Topic.self, in: context)?.name = random.pick(Self.texts)
      default: try any(Topic.self, in: context)?.rank = random.pick([nil, 1, 2])
      }
    }
    do {
      try context.save()
    } catch {
      done.append("✗ \(error)")
      context.rollback()
    }
  }

  private func sql() {
    do {
      try store.writeSQL { transaction in
        for _ in 0..<random.pick([1, 1, 3]) {
          if random.chance(6) {
            try? transaction.savepoint {
              statement(transaction)
              statement(transaction)
              if !random.chance(3) { throw Undone() }
            }
          } else {
            statement(transaction)
          }
        }
        if random.chance(9) { throw Undone() }
      }
    } catch {
      done.append("✗ \(error)")
    }
  }

  private struct Undone: Error {}

  private func statement(_ transaction: Transaction) {
    let (a, b) = (1 + random.below(40), 1 + random.below(8))
    let text = random.pick(Self.texts)
    let sql =
      switch random.below(14) {
      case 0: "INSERT INTO paper (title, year, parent_id) VALUES ('\(text)', \(b), (SELECT min(id) FROM paper))"
      case 1: "UPDATE paper SET parent_id = NULL WHERE id = \(a)"
      case 2: "UPDATE paper SET parent_id = (SELECT id FROM paper WHERE id = \(b)) WHERE id = \(a + 8)"
      case 3: "UPDATE paper SET year = \(b), title = '\(text)' WHERE id % 3 = \(a % 3)"
      case 4: "INSERT OR IGNORE INTO paper_topics SELECT id, \(b) FROM paper WHERE id % 5 = \(a % 5)"
      case 5: "DELETE FROM paper_topics WHERE paper_id = \(a)"
      case 6: "UPDATE OR REPLACE paper_topics SET topic_id = \(b) WHERE paper_id % 4 = \(a % 4)"
      case 7: "UPDATE OR IGNORE paper_topics SET paper_id = \(a) WHERE topic_id = \(b)"
      case 8:
        random.chance(8) ? "DELETE FROM topic WHERE id = \(b)" : "UPDATE topic SET name = '\(text)' WHERE id = \(b)"
      case 9: "UPDATE topic SET rank = NULLIF(\(b % 3), 0) WHERE id = \(b)"
      case 10: random.chance(2) ? "DELETE FROM paper WHERE id = \(a)" : "DELETE FROM paper WHERE year = \(b)"
      case 11: random.chance(10) ? "DELETE FROM paper_topics" : "INSERT INTO topic (name) VALUES ('\(text)')"
      // A part before its whole.
      case 12:
        "PRAGMA defer_foreign_keys = ON; INSERT INTO paper (title, year, parent_id) VALUES ('\(text)', 3, 900 + \(a)); INSERT OR IGNORE INTO paper (id, title, year) VALUES (900 + \(a), '\(text)', \(b))"
      default: "UPDATE paper SET id = \(a) WHERE id = \(a + 5)"
      }
    for part in sql.split(separator: "; ") {
      do {
        try transaction.connection.execute(String(part))
        done.append(String(part))
      } catch {
        done.append("✗ \(part)")
      }
    }
  }
}

package import QuireRow
package import QuireSQLite

/// Something derived that moves with its context from commit to commit: a live query, a projection.
///
/// The four calls come in this order, all participants through one before any enters the next, so that nobody ever sees
/// two of them at different commits. Confined to the context's isolation.
package protocol Participant: AnyObject {
  /// Tables whose changes concern it.
  var tables: [String] { get }
  /// Computes its step from what changed; `connection` reads exactly the new commit. Shows nothing yet. An error
  /// becomes the participant's own state.
  /// - Returns: whether there is a step to take.
  func prepare(_ news: News, on connection: Connection) -> Bool
  /// Tells who asked to hear before: everything still reads as before.
  func announce()
  /// Takes the step.
  func apply()
  /// Tells who asked to hear after.
  func tell()
  /// The rows it shows: their objects stay while somebody tracks them.
  var shownKeys: (table: String, keys: [Int64])? { get }
}

extension Participant {
  package var shownKeys: (table: String, keys: [Int64])? { nil }
}

/// What a context moves over: the changes of one or more commits, folded.
package struct News {
  /// The commit it leads to.
  package let number: Int64
  package let tables: [TableChanges]
  /// Whether anything may have changed, besides what `tables` says: another process committed. Then every participant
  /// asks anew and compares.
  package var isComparison = false
  /// What has befallen the file: there is nothing to follow any longer. Nothing has changed.
  package var failure: DatabaseError?

  package subscript(table: String) -> TableChanges? { tables.first { $0.table.name == table } }

  /// The changes of several commits as one. A table that was altered in between comes once for each commit: its values
  /// before and after cannot be read by one description.
  static func tables(of commits: [ChangeSet]) -> [TableChanges] {
    if commits.count < 2 { return commits.first?.tables ?? [] }
    var forms: [String: ChangedTable] = [:]
    for commit in commits {
      for changes in commit.tables {
        if let form = forms[changes.table.name], form != changes.table { return commits.flatMap(\.tables) }
        forms[changes.table.name] = changes.table
      }
    }
    return ChangeSet.folded(commits)
  }
}

/// The participants of one context, by table. Held weakly: one that nobody else holds costs nothing from then on.
package final class Participants {
  private var byTable: [String: [Weak]] = [:]

  private struct Weak { weak var participant: (any Participant)? }

  package func add(_ participant: any Participant) {
    for table in participant.tables {
      // Those that are gone are forgotten when their table changes, and here for a table that never does.
      if let count = byTable[table]?.count, count >= 64, count.nonzeroBitCount == 1 {
        byTable[table]?.removeAll { $0.participant == nil }
      }
      byTable[table, default: []].append(Weak(participant: participant))
    }
  }

  var shownKeys: [(table: String, keys: [Int64])] {
    var seen: Set<ObjectIdentifier> = []
    return byTable.values.joined().compactMap { entry in
      guard let participant = entry.participant, seen.insert(ObjectIdentifier(participant)).inserted else { return nil }
      return participant.shownKeys
    }
  }

  func removeAll() { byTable.removeAll() }

  /// How many entries there are, of those that are gone too.
  var count: Int { byTable.values.reduce(0) { $0 + $1.count } }

  var isEmpty: Bool { byTable.allSatisfy { $0.value.allSatisfy { $0.participant == nil } } }

  /// All of them, each once.
  var all: [any Participant] {
    var known: Set<ObjectIdentifier> = []
    return byTable.sorted { $0.key < $1.key }.flatMap(\.value).compactMap { entry in
      entry.participant.flatMap { known.insert(ObjectIdentifier($0)).inserted ? $0 : nil }
    }
  }

  func concerned(by news: News) -> [any Participant] {
    news.isComparison || news.failure != nil ? all : concerned(by: news.tables)
  }

  /// Those whose tables changed, each once, in the order of their making. Forgets those that are gone: nobody tells
  /// it when one goes, because that may happen on any thread.
  func concerned(by tables: [TableChanges]) -> [any Participant] {
    var result: [any Participant] = []
    var known: Set<ObjectIdentifier> = []
    for changes in tables {
      let name = changes.table.name
      guard let entries = byTable[name] else { continue }
      var gone = 0
      for entry in entries {
        guard let participant = entry.participant else {
          gone += 1
          continue
        }
        if tables.count == 1 || known.insert(ObjectIdentifier(participant)).inserted { result.append(participant) }
      }
      if gone == entries.count {
        byTable[name] = nil
      } else if gone > 0 {
        byTable[name]?.removeAll { $0.participant == nil }
      }
    }
    return result
  }
}

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
}

/// What a context moves over: the changes of one or more commits, folded.
package struct News {
  /// The commit it leads to.
  package let number: Int64
  package let tables: [TableChanges]

  package subscript(table: String) -> TableChanges? { tables.first { $0.table.name == table } }
}

/// The participants of one context, by table.
package final class Participants {
  private var byTable: [String: [Weak]] = [:]

  private struct Weak { weak var participant: (any Participant)? }

  package func add(_ participant: any Participant) {
    for table in participant.tables { byTable[table, default: []].append(Weak(participant: participant)) }
  }

  package func remove(_ participant: any Participant) {
    for table in participant.tables {
      byTable[table]?.removeAll { $0.participant == nil || $0.participant === participant }
    }
  }

  func removeAll() { byTable.removeAll() }

  var isEmpty: Bool { byTable.allSatisfy { $0.value.allSatisfy { $0.participant == nil } } }

  func concerned(by tables: [TableChanges]) -> [any Participant] {
    var result: [any Participant] = []
    for changes in tables {
      for entry in byTable[changes.table.name] ?? [] {
        if let participant = entry.participant, !result.contains(where: { $0 === participant }) {
          result.append(participant)
        }
      }
    }
    return result
  }
}

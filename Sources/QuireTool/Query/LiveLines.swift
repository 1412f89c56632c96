import Foundation
import Quire
import QuireShell

/// A live answer as lines: all of it once, then what changed.
@MainActor final class LiveLines: LiveView {
  private let terminal: Terminal
  private let manner: LiveStrategy

  init(_ terminal: Terminal, _ manner: LiveStrategy) { (self.terminal, self.manner) = (terminal, manner) }

  func begin(_ live: any LiveAnswer) {
    let records = live.records
    for line in RowTable(live.columns, records.map(\.values)).lines(on: terminal, width: nil) { terminal.print(line) }
    terminal.print("\(records.count) \(records.count == 1 ? "row" : "rows")")
  }

  func show(_ difference: Difference<Record>, _ live: any LiveAnswer) {
    let rows = difference.changes.map { change -> [String] in
      switch change {
      case .insert(let at, let new): ["+", "\(at)"] + Self.cells(new)
      case .delete(let at, let old): ["-", "\(at)"] + Self.cells(old)
      case .move(let from, let to, let old, let new): [">", "\(from)→\(to)"] + Self.cells(new) + Self.told(old, new)
      case .update(let at, let old, let new): ["~", "\(at)"] + Self.cells(new) + Self.told(old, new)
      }
    }
    for line in Table(alignRight: [1], rows: rows).lines() { terminal.print(line) }
    terminal.print(LiveStatus(difference, live, manner).text)
  }

  func fail(_ reason: String) { terminal.printError(reason + "\n" + LiveStatus.stays) }

  private static func cells(_ record: Record) -> [String] { record.values.map { ShownCell($0).text } }

  /// `price 8.0 → 9.5`.
  private static func told(_ old: Record, _ new: Record) -> [String] {
    let told = new.changed(from: old).map { name, was, now in
      "\(printable(name)) \(ShownCell(was).text) → \(ShownCell(now).text)"
    }
    return told.isEmpty ? [] : ["(" + told.joined(separator: ", ") + ")"]
  }
}

/// A live answer as JSON lines: each row that is there as an insert, then each change.
@MainActor final class LiveJSON: LiveView {
  private let terminal: Terminal
  init(_ terminal: Terminal) { self.terminal = terminal }

  func begin(_ live: any LiveAnswer) {
    for (at, record) in live.records.enumerated() { say(live.commitNumber, "insert", [("at", .integer(at))], record) }
  }

  func show(_ difference: Difference<Record>, _ live: any LiveAnswer) {
    for change in difference {
      switch change {
      case .insert(let at, let new): say(difference.commit, "insert", [("at", .integer(at))], new)
      case .delete(let at, let old): say(difference.commit, "delete", [("at", .integer(at))], old)
      case .move(let from, let to, let old, let new):
        say(difference.commit, "move", [("from", .integer(from)), ("to", .integer(to))], new, changed: old)
      case .update(let at, let old, let new):
        say(difference.commit, "update", [("at", .integer(at))], new, changed: old)
      }
    }
  }

  func fail(_ reason: String) { terminal.printError(reason + "\n" + LiveStatus.stays) }

  private func say(
    _ commit: Int64, _ what: String, _ places: [(String, JSON)], _ record: Record, changed old: Record? = nil
  ) {
    let row = JSON.object(Array(zip(distinct(record.columns), record.values.map(\.json))))
    var members: [(String, JSON)] = [("commit", .integer(Int(commit))), ("op", .string(what))] + places
    members.append(("row", row))
    if let old {
      let changed = record.changed(from: old)
      let names = distinct(changed.map(\.name))
      members.append(("changed", .object(zip(names, changed).map { ($0, .array([$1.was.json, $1.now.json])) })))
    }
    terminal.print(JSON.object(members).text)
  }
}

extension Record {
  /// The columns whose values differ from those in `old`, with both values.
  func changed(from old: Record) -> [(name: String, was: Value, now: Value)] {
    columns.indices.compactMap { place in
      self[place] == old[place] ? nil : (columns[place], old[place], self[place])
    }
  }
}

/// `3 rows · +1 ~1 · commit 4 · 14:03:22.118 · another process · query run again`.
struct LiveStatus {
  let text: String
  static let stays = "The answer stays what it was until the query works again."

  @MainActor init(_ difference: Difference<Record>?, _ live: any LiveAnswer, _ manner: LiveStrategy) {
    let count = live.records.count
    var parts = ["\(count) \(count == 1 ? "row" : "rows")"]
    if let difference {
      var counts: [(String, Int)] = [("+", 0), ("-", 0), (">", 0), ("~", 0)]
      for change in difference {
        switch change {
        case .insert: counts[0].1 += 1
        case .delete: counts[1].1 += 1
        case .move: counts[2].1 += 1
        case .update: counts[3].1 += 1
        }
      }
      parts.append(counts.filter { $0.1 > 0 }.map { "\($0.0)\($0.1)" }.joined(separator: " "))
      parts += ["commit \(difference.commit)", Self.time(.now), "another process", manner.short]
    }
    text = parts.joined(separator: " · ")
  }

  /// The local time of day, to the millisecond.
  private static func time(_ date: Date) -> String {
    let parts = Calendar.current.dateComponents([.hour, .minute, .second, .nanosecond], from: date)
    return String(
      format: "%02d:%02d:%02d.%03d", parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0,
      (parts.nanosecond ?? 0) / 1_000_000)
  }
}

package import QuireModel
import QuireRow
package import QuireSQLite

/// How a result in sections goes along with its list.
extension LiveSections: Participant {
  package var tables: [String] { list.tables }
  package var concerns: [Concern] { list.concerns }
  package var isFollowing: Bool { failure == nil }

  package var shownKeys: (table: String, keys: [Int64])? { list.shownKeys }
  package func shown(of wanted: Set<Int64>) -> [Int64] { list.shown(of: wanted) }

  package func prepare(_ news: News, on connection: Connection) -> Bool {
    do {
      let moves = list.prepare(news, on: connection)
      if let error = list.next?.error { throw error }
      next = moves || isStale ? try step(news.number) : nil
      isStale = false
      return moves || next != nil
    } catch {
      isStale = true
      next = Step(number: news.number, error: owner.explained(error))
      return true
    }
  }

  package func announce() {
    guard let next else { return }
    if next.changesSections { registrar.willSet(self, keyPath: sectionsPath) }
    for (section, _) in next.changed { section.willChange() }
  }

  package func apply() {
    let isOther = list.next?.other != nil
    list.apply()
    if let next { apply(next) }
    if isOther { attendance.begin(self, in: owner, wanting: []) }
  }

  private func apply(_ step: Step) {
    failedAt = step.error == nil ? nil : failedAt ?? owner.position.number
    failure = step.error
    if step.error != nil { return }
    arrangement.apply(step.change)
    for (section, keys) in step.changed { section.take(keys) }
    for at in step.change.deleted.reversed() { sections.remove(at: at) }
    for (at, section) in step.inserted { sections.insert(section, at: at) }
  }

  package func tell() {
    list.tell()
    guard let step = next else { return }
    next = nil
    if step.changesSections { registrar.didSet(self, keyPath: sectionsPath) }
    for (section, _) in step.changed { section.didChange() }
    if !step.told.isEmpty { listeners.tell(Told(commit: step.number, changes: step.told)) }
  }

  /// Where all rows stand that are shown.
  var standings: [Int64: LiveList.Standing] {
    var result: [Int64: LiveList.Standing] = [:]
    var at = 0
    for section in arrangement.sections {
      for key in section.keys {
        result[key] = LiveList.Standing(section: section.name, at: at)
        at += 1
      }
    }
    return result
  }

  /// The step that goes with the list's.
  func step(_ number: Int64) throws -> Step {
    let now = list.next?.other ?? list
    if !isStale, let taken = list.next {
      var step = try arranged(
        replacing: taken.replaced, with: taken.keys.map { (now.section(of: $0), $0) }, number: number)
      tell(taken.difference, taken.told, into: &step)
      return step
    }
    // It could not go along with the list: from what is shown to what the list shows by then, whatever that was told.
    var keys = list.keys
    if let taken = list.next { keys.replaceSubrange(taken.replaced, with: taken.keys) }
    let shown = arrangement.sections.flatMap(\.keys)
    var step = try arranged(
      replacing: 0..<shown.count, with: keys.map { (now.section(of: $0), $0) }, number: number)
    var difference = KeyDifference.between(shown[...], keys[...], touched: Set(shown).union(keys))
    LiveList.addMoves(from: standings, to: now.standings(of: keys), into: &difference)
    tell(difference, list.next?.told ?? ToldRows(), into: &step)
    return step
  }

  func arranged(replacing range: Range<Int>, with rows: [(name: Value, key: Int64)], number: Int64) throws
    -> Step
  {
    var step = Step(number: number)
    step.change = arrangement.change(replacing: range, with: rows)
    let first = step.change.before.lowerBound
    for at in step.change.inserted {
      let section = step.change.after[at - first]
      step.inserted.append((at, Section(try Key.decoded(section.name), section.keys, of: entity, in: context)))
    }
    step.changed = step.change.deleted.map { (sections[$0], []) }
    step.changed += step.change.changed.map { (sections[$0.from], step.change.after[$0.to - first].keys) }
    return step
  }

  private func tell(_ difference: KeyDifference, _ rows: ToldRows, into step: inout Step) {
    if listeners.isEmpty { return }
    var after = arrangement
    after.apply(step.change)
    func old(_ index: Int) -> Told.Place {
      let place = arrangement.place(of: index)
      return Told.Place(section: place.section, row: place.row)
    }
    func new(_ index: Int) -> Told.Place {
      let place = after.place(of: index)
      return Told.Place(section: place.section, row: place.row)
    }
    for (key, at) in difference.deletes { step.told.append(.delete(at: old(at), old: rowForm.row(key, in: rows.old))) }
    for (key, from, to) in difference.moves {
      step.told.append(
        .move(
          from: old(from), to: new(to), old: rowForm.row(key, in: rows.old), new: rowForm.row(key, in: rows.new)))
    }
    for at in step.change.deleted { step.told.append(.deleteSection(at: at, key: sections[at].key)) }
    for (at, section) in step.inserted { step.told.append(.insertSection(at: at, key: section.key)) }
    for (key, at) in difference.inserts { step.told.append(.insert(at: new(at), new: rowForm.row(key, in: rows.new))) }
    for (key, at) in difference.updates {
      step.told.append(
        .update(at: new(at), old: rowForm.row(key, in: rows.old), new: rowForm.row(key, in: rows.new)))
    }
  }
}

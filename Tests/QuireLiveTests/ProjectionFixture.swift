import Foundation
import Quire
import Testing

@testable import QuireLive

/// A row of the shared fixture's books.
@Projection(of: Book.self) struct BookLine: Identifiable {
  var id: PersistentIdentifier
  var title: String
  @From(\Book.author?.name) var author: String?
  @From(\Book.author?.persistentModelID) var authorID: PersistentIdentifier?
  @From(\Book.author?.rank) var rank: Int?
  var price: Double
}

// What the shared fixture has not: a path of two steps, and references that become nil.

enum Binding: String, Codable { case paper, cloth }

@Model final class Press {
  var name: String
  var city: String
  @Relationship(deleteRule: .nullify, inverse: \Writer.press) var writers: [Writer] = []
  init(_ name: String, city: String = "") {
    self.name = name
    self.city = city
  }
}

@Model final class Writer {
  var name: String
  var age = 0
  var press: Press?
  @Relationship(deleteRule: .nullify, inverse: \Volume.writer) var volumes: [Volume] = []
  init(_ name: String, press: Press? = nil) {
    self.name = name
    self.press = press
  }
}

@Model final class Volume {
  var title: String
  var binding = Binding.paper
  var tags: [String] = []
  var printed: Date?
  var shelf = 0
  var writer: Writer?
  var loud: String { title.uppercased() }
  init(_ title: String, writer: Writer? = nil) {
    self.title = title
    self.writer = writer
  }
}

@Projection(of: Volume.self) struct VolumeLine {
  var title: String
  @From(\Volume.writer?.name) var writer: String?
  @From(\Volume.writer?.press?.name) var press: String?
}

@Projection(of: Volume.self) struct PressLine {
  @From(\Volume.writer?.press?.city) let city: String?
}

@Projection(of: Volume.self) struct VolumeForms {
  var id: PersistentIdentifier
  var binding: Binding
  var tags: [String]
  var printed: Date?
  var both: String { "\(binding) \(tags.count)" }
}

@Projection(of: Volume.self) struct LoudLine { var loud: String }

func makePressStore() throws -> ModelContainer {
  try ModelContainer(
    for: Press.self, Writer.self, Volume.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
}

/// One live list of rows under test: what it shows, and what its differences made of what it showed before.
@MainActor final class WatchedRows<Row: Projection> {
  let name: String
  let live: LiveRows<Row>
  private let afresh: (ModelContext) throws -> [Row]
  private var token: ChangeToken?
  private var shown: [Row]
  private var told: [Difference<Row>] = []
  private(set) var differences = 0
  /// How often what was to be shown had no value.
  private(set) var errors = 0
  private(set) var hadError = false

  init(
    _ name: String, _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, having: Predicate<Row>? = nil,
    sortBy: ProjectionOrder<Row>, limit: Int?, offset: Int, in context: ModelContext
  ) throws {
    self.name = "\(name), limit \(limit.map(String.init) ?? "none"), offset \(offset)"
    switch sortBy {
    case .properties(let order):
      live = try context.live(
        type, where: predicate, having: having, sortBy: order, limit: limit, offset: offset)
      afresh = {
        try $0.fetch(type, where: predicate, having: having, sortBy: order, limit: limit, offset: offset)
      }
    case .fields(let order):
      live = try context.live(
        type, where: predicate, having: having, sortBy: order, limit: limit, offset: offset)
      afresh = {
        try $0.fetch(type, where: predicate, having: having, sortBy: order, limit: limit, offset: offset)
      }
    }
    shown = Array(live)
    token = live.onDifference { [unowned self] in told.append($0) }
  }

  /// Nil where all is right; else what is not.
  func check(_ store: ModelContainer, commit: Int64) throws -> String? {
    let before = shown
    let now = Array(live)
    defer {
      shown = now
      told.removeAll()
    }
    let fresh: [Row]
    do {
      fresh = try afresh(ModelContext(store, isolation: nil))
      hadError = false
    } catch {
      errors += 1
      hadError = true
      if live.error.map({ "\($0)" }) == "\(error)" { return before == now && told.isEmpty ? nil : "\(name): moved" }
      return "\(name): has \(String(describing: live.error)), afresh \(error)"
    }
    if let error = live.error { return "\(name): \(error)" }
    // By bytes too: equal strings of other scalars are other text.
    if now != fresh || Array("\(now)".utf8) != Array("\(fresh)".utf8) {
      return "\(name): shows \(now), afresh \(fresh), before \(before)"
    }
    if live.commitNumber != commit { return "\(name): stands at \(live.commitNumber), not \(commit)" }
    if told.count > 1 { return "\(name): told \(told.count) times" }
    guard let difference = told.first else { return before == now ? nil : "\(name): \(before) → \(now) untold" }
    differences += 1
    if difference.commit != commit { return "\(name): told of \(difference.commit)" }
    return problem(Array(difference), from: before, to: now)
  }

  private func problem(_ changes: [Difference<Row>.Change], from before: [Row], to now: [Row]) -> String? {
    var leaving: [(at: Int, row: Row)] = []
    var coming: [(at: Int, row: Row)] = []
    var updates: [(at: Int, old: Row, new: Row)] = []
    for change in changes {
      switch change {
      case .insert(let at, let new): coming.append((at, new))
      case .delete(let at, let old): leaving.append((at, old))
      case .move(let from, let to, let old, let new):
        leaving.append((from, old))
        coming.append((to, new))
      case .update(let at, let old, let new):
        // Equal text can be other text by its bytes.
        if "\(old)".utf8.elementsEqual("\(new)".utf8) { return "\(name): update of nothing" }
        updates.append((at, old, new))
      }
    }
    var result = before
    for (at, row) in leaving.sorted(by: { $0.at > $1.at }) {
      if !result.indices.contains(at) || result[at] != row { return "\(name): \(row) does not leave \(at)" }
      result.remove(at: at)
    }
    for (at, row) in coming.sorted(by: { $0.at < $1.at }) {
      if at > result.count { return "\(name): \(row) comes to \(at) of \(result.count)" }
      result.insert(row, at: at)
    }
    for (at, old, new) in updates {
      if !result.indices.contains(at) || result[at] != old { return "\(name): \(old) is not updated at \(at)" }
      result[at] = new
    }
    return result == now ? nil : "\(name): differences lead from \(before) to \(result), not \(now)"
  }
}

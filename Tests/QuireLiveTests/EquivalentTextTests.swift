import Foundation
import Observation
import Quire
import TestSupport
import Testing

@testable import QuireLive

private struct Cover: Codable, Equatable {
  var artist: String
  var colors: Set<String> = []
}

@Model private final class Print {
  var title: String
  var shelf: Int
  var cover = Cover(artist: "e\u{301}")
  var tags = ["e\u{301}"]
  init(_ title: String, shelf: Int = 1) {
    self.title = title
    self.shelf = shelf
  }
}

@Projection(of: Print.self) private struct PrintLine {
  var title: String
  var tags: [String]
}

@Projection(groupsOf: Print.self) private struct PrintShelf {
  var shelf: Int
  @Min(\Print.title) var first: String?
  @Max(\Print.title) var last: String?
}

/// Two spellings of é are equal texts to Swift and two texts to the file: a change from one to the other is followed.
@MainActor @Suite(.fewOnMainActor) struct EquivalentTextTests {
  private static let (decomposed, composed) = ("e\u{301}", "\u{e9}")
  private let store: ModelContainer
  private let context: ModelContext
  private let print: Print

  init() throws {
    store = try ModelContainer(for: Print.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store, isolation: nil)
    print = Print(Self.decomposed)
    context.insert(print)
    try context.save()
  }

  private func isComposed(_ text: String?) -> Bool { text.map { Array($0.utf8) } == Array(Self.composed.utf8) }

  private func rewrite() throws {
    try store.execute("UPDATE print SET title = \(Self.composed)")
    try context.refresh()
  }

  @Test func `the least and greatest text follow`() throws {
    let (least, greatest) = (try context.liveMin(\Print.title), try context.liveMax(\Print.title))
    var told = 0
    withObservationTracking {
      _ = least.value
    } onChange: {
      MainActor.assumeIsolated { told += 1 }
    }
    try rewrite()
    #expect(isComposed(least.value) && isComposed(greatest.value) && told == 1)
  }

  @Test func `those of groups follow, and are told as differences`() throws {
    let groups = try context.liveGroups(Print.self, by: \.shelf, .count, .min(\.title), .max(\.title))
    let shelves = try context.live(PrintShelf.self)
    var told = 0
    let tokens = [groups.onDifference { told += $0.changes.count }, shelves.onDifference { told += $0.changes.count }]
    try rewrite()
    #expect(isComposed(groups.first?.values.1) && isComposed(groups.first?.values.2))
    #expect(isComposed(shelves.first?.first) && isComposed(shelves.first?.last))
    #expect(told == 2)
    withExtendedLifetime(tokens) {}
  }

  @Test(arguments: [false, true]) func `projected rows follow, and are told as differences`(readsAll: Bool) throws {
    let lines = try context.live(PrintLine.self)
    var told = 0
    let token = lines.onDifference { told += $0.changes.count }
    if readsAll { lines.pause() }
    try store.execute("UPDATE print SET title = \(Self.composed), tags = '[\"\u{e9}\"]'")
    try context.refresh()
    if readsAll { try lines.resume() }
    #expect(isComposed(lines.first?.title) && isComposed(lines.first?.tags.first) && told == 1)
    withExtendedLifetime(token) {}
  }

  @Test func `objects follow in every type that holds text`() throws {
    var told = 0
    withObservationTracking {
      _ = print.cover
    } onChange: {
      MainActor.assumeIsolated { told += 1 }
    }
    try store.execute("UPDATE print SET cover = json_set(cover, '$.artist', \(Self.composed)), tags = '[\"\u{e9}\"]'")
    try context.refresh()
    #expect(isComposed(print.cover.artist) && isComposed(print.tags.first) && told == 1)
  }

  @Test func `an assignment of another spelling is saved in every type that holds text`() throws {
    print.tags = [Self.composed]
    print.cover = Cover(artist: Self.composed)
    try context.save()
    let saved = try store.query("SELECT json_extract(tags, '$[0]'), json_extract(cover, '$.artist') FROM print")
    #expect(saved.map(\.values) == [[.text(Self.composed), .text(Self.composed)]])
  }

  @Test func `an equal value is no change, whatever the order of its set`() throws {
    print.cover = Cover(artist: "a", colors: ["red", "green", "blue", "gray"])
    try context.save()
    print.cover = Cover(artist: "a", colors: ["blue", "gray", "green", "red"])
    print.tags = print.tags
    #expect(!context.hasChanges)
  }

  @Test func `a kept value follows`() throws {
    let kept = try context.setting("name", default: "")
    let other = try ModelContext(store, isolation: nil).setting("name", default: "")
    try other.set(Self.decomposed)
    try context.refresh()
    try other.set(Self.composed)
    try context.refresh()
    #expect(isComposed(kept.value))
  }
}

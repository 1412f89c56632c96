import Foundation
import Observation
import Quire
import Testing

@testable import QuireLive
@testable import QuireModel

extension ContractTests {
  /// The observation contract, C: a reference that may be nil.
  @MainActor @Suite struct ReferenceTests {
    let library: QuireLibrary
    var context: ModelContext { library.context }

    init() throws { library = try QuireLibrary() }

    private func name(_ change: Reference<Novel>.Change) -> String {
      switch change {
      case .retargeted(let old, let new): "\(old?.title ?? "nil") → \(new?.title ?? "nil")"
      case .updated(let change): "\(change.old(\.title) ?? "?") is \(change.new(\.title) ?? "?")"
      case .vanished(let model): "\(model.title) is gone"
      }
    }

    @Test(arguments: allSources)
    func `C1: a wrapper announces both a change of the reference and a change inside the object`(
      source: any ChangeSource
    ) async throws {
      let current = Reference(library.eden)
      var heard: [String] = []
      let tokens = [
        current.onWillChange { heard.append("before: \(name($0)), reads \(current.model?.title ?? "nil")") },
        current.onDidChange { heard.append("\(name($0)), reads \(current.model?.title ?? "nil")") },
      ]
      let reader = observe { _ = current.model?.title }
      let only = observe { _ = current.model }
      try await library.make(source, .title(1, "Eden II"), .title(2, "unheard"))
      #expect(heard == ["before: Eden is Eden II, reads Eden", "Eden is Eden II, reads Eden II"])
      #expect(reader.runs == 2 && only.runs == 1)
      heard.removeAll()
      current.model = library.volume(3)
      await library.turn()
      let step = "Eden II → The Dispossessed"
      #expect(heard == ["before: \(step), reads Eden II", "\(step), reads The Dispossessed"])
      #expect(reader.runs == 3 && only.runs == 2)
      _ = tokens
    }

    @Test(arguments: allSources)
    func `C2: nil, object, other object, nil: each step is announced once; nil to nil and the same again are silent`(
      source: any ChangeSource
    ) async throws {
      let current = Reference<Novel>()
      var heard: [String] = []
      let token = current.onDidChange { heard.append(name($0)) }
      let reader = observe { _ = current.model }
      var runs: [Int] = []
      for target in [nil, library.eden, library.eden, library.volume(2), nil, nil, library.eden] as [Novel?] {
        current.model = target
        await library.turn()
        runs.append(reader.runs)
      }
      #expect(heard == ["nil → Eden", "Eden → Solaris", "Solaris → nil", "nil → Eden"])
      #expect(runs == [1, 2, 2, 3, 4, 4, 5])
      try await library.make(source, .title(1, "Eden"), .isIn(2, false))
      #expect(heard.count == 4 && reader.runs == 5, "nothing of it has changed")
      try await library.make(source, .delete(1))
      current.model = nil
      await library.turn()
      #expect(heard.dropFirst(4) == ["Eden is gone"] && reader.runs == 6)
      _ = token
    }

    @Test(arguments: allSources)
    func `C3: the object given at creation is observed, and after the reference moved on no longer heard`(
      source: any ChangeSource
    ) async throws {
      let eden = library.eden  // held, or it would be gone when the reference has moved on
      let current = Reference(eden)
      var heard: [String] = []
      let token = current.onDidChange { heard.append(name($0)) }
      let reader = observe { _ = current.model?.title }
      try await library.make(source, .title(1, "x"))
      #expect(heard == ["Eden is x"] && reader.runs == 2)
      current.model = library.volume(2)
      await library.turn()
      try await library.make(source, .title(1, "y"))
      #expect(eden.title == "y")
      try await library.make(source, .delete(1))
      #expect(
        eden.isDeleted && heard == ["Eden is x", "x → Solaris"] && reader.runs == 3
          && current.model === library.volume(2))
      _ = token
    }

    @Test(arguments: allSources)
    func `C4: if the row is deleted the reference becomes nil, once, and nothing traps`(source: any ChangeSource)
      async throws
    {
      let eden = library.eden
      let current = Reference(eden)
      var heard: [String] = []
      let tokens = [
        current.onWillChange { heard.append("before: \(name($0)), \(current.model == nil)") },
        current.onDidChange { heard.append("\(name($0)), \(current.model == nil)") },
      ]
      var seen: [String?] = []
      let reader = observe { seen.append(current.model?.title) }
      try await library.make(source, .delete(2))
      #expect(heard.isEmpty)
      try await library.make(source, .delete(1))
      #expect(heard == ["before: Eden is gone, false", "Eden is gone, true"] && seen == ["Eden", nil])
      try await library.make(source, .title(3, "x"))
      eden.title = "ignored"
      current.model = eden
      await library.turn()
      #expect(heard.count == 2 && current.model == nil && reader.runs == 2 && eden.title == "Eden")
      _ = tokens
    }

    @Test(arguments: allSources)
    func `C4: by a cascade, too, and for all references to it`(source: any ChangeSource) async throws {
      let references = [Reference(library.eden), Reference(library.eden), Reference(library.volume(3))]
      var heard: [String] = []
      let tokens = references.map { $0.onDidChange { heard.append(name($0)) } }
      try await library.make(source, .deleteWriter(1))
      #expect(heard == ["Eden is gone", "Eden is gone"] && references.map { $0.model == nil } == [true, true, false])
      _ = tokens
    }

    @Test(arguments: allSources)
    func `C4: whoever hears of the end before may put something else there`(source: any ChangeSource) async throws {
      let current = Reference(library.eden)
      var heard: [String] = []
      let other = library.volume(2)
      let tokens = [
        current.onWillChange { change in if case .vanished = change { current.model = other } },
        current.onDidChange { heard.append(name($0)) },
      ]
      try await library.make(source, .delete(1))
      #expect(heard == ["Eden → Solaris"] && current.model === other)
      _ = tokens
    }

    /// What a reader is: it cannot mutate itself.
    private struct View {
      @ObservedReference var current: Novel?
      init(_ volume: Novel?, in context: ModelContext) {
        _current = ObservedReference(wrappedValue: volume, in: context)
      }

      func show() -> String { if let volume = current { volume.title } else { "none" } }
      func open(_ volume: Novel?) { current = volume }
    }

    @Test(arguments: allSources)
    func `C5: it reads and is assigned like the plain optional, also where it cannot mutate; new models are inserted`(
      source: any ChangeSource
    ) async throws {
      let view = View(nil, in: context)
      var seen: [String] = []
      let reader = observe { seen.append(view.show()) }
      let new = Novel("Fiasco")
      view.open(new)
      #expect(new.modelContext === context && context.hasChanges)
      await library.turn()
      view.current?.title = "Fiasco!"
      await library.turn()
      try context.save()
      try #expect(library.store.query("SELECT title FROM novel WHERE id = 4").map(\.values) == [["Fiasco!"]])
      try await library.make(source, .title(4, "Fiasco?"))
      view.open(nil)
      await library.turn()
      #expect(seen == ["none", "Fiasco", "Fiasco!", "Fiasco?", "none"] && reader.runs == 5)

      let fromFirst = Reference(library.eden)
      fromFirst.model = Novel("in the first one's context")
      #expect(fromFirst.model?.modelContext === context)
      let free = Reference<Novel>()
      free.model = Novel("in none")
      #expect(free.model?.modelContext == nil && free.model?.title == "in none")
    }

    @Test(arguments: allSources)
    func `C5: a reader may assign it, and runs no more for that`(source: any ChangeSource) async throws {
      let view = View(nil, in: context)
      let eden = library.eden
      let chooser = observe {
        if eden.isIn { view.open(eden) }
      }
      let shown = observe { _ = view.show() }
      view.open(nil)
      try await library.make(source, .isIn(1, false))
      try await library.make(source, .isIn(1, true))
      #expect(chooser.runs == 3 && shown.runs == 3 && view.current === eden)
    }

    @Test(arguments: allSources)
    func `C6: the reference holds its object strongly and nothing else; dropping it frees the object`(
      source: any ChangeSource
    ) async throws {
      weak var model: Novel?
      weak var reference: Reference<Novel>?
      weak var held: ModelContext?
      do {
        let context = ModelContext(library.store, isolation: nil)
        held = context
        let current = Reference(context.model(Novel.self, key: 1), in: context)
        let token = current.onDidChange { _ in }
        (model, reference) = (current.model, current)
        let tracking = observe { _ = current.model?.title }
        try source.make([.title(1, "x")], in: library)
        try context.refresh()
        context.owner.sweeper.sweep()
        context.owner.sweeper.sweepAll()
        #expect(model?.title == "x" && context.registeredCount == 1)
        current.model = nil
        context.owner.sweeper.sweep()
        context.owner.sweeper.sweepAll()
        #expect(model == nil && context.registeredCount == 0 && tracking.runs == 1)
        current.model = Novel("unsaved")
        context.rollback()
        model = current.model
        #expect(model != nil)
        _ = token
      }
      await library.turn()
      #expect(model == nil && reference == nil && held == nil)
    }

    @Observable @MainActor final class Desk {
      @ObservationIgnored @ObservedReference var current: Novel?
      var title: String { current?.title ?? "none" }
    }

    @Test(arguments: allSources)
    func `C7: a wrapper that a user writes around ours is tracked through what it is made of`(source: any ChangeSource)
      async throws
    {
      let desk = Desk()
      var seen: [String] = []
      let reader = observe { seen.append(desk.title) }
      desk.current = library.eden
      await library.turn()
      try await library.make(source, .title(1, "x"))
      try await library.make(source, .title(2, "unread"))
      try await library.make(source, .delete(1))
      #expect(seen == ["none", "Eden", "x", "none"] && reader.runs == 4)
    }

    @MainActor private final class Editor {
      static var made = 0
      @OwnedReference var draft: Novel?
      init(in context: ModelContext) {
        _draft = OwnedReference(wrappedValue: Editor.make(), in: context)
      }
      private static func make() -> Novel {
        made += 1
        return Novel("Untitled")
      }
    }

    private struct Copied { @OwnedReference var draft: Novel? }

    @Test(arguments: allSources)
    func `C8: the owning form lives as long as its owner and makes its object once; the observing form owns nothing`(
      source: any ChangeSource
    ) async throws {
      Editor.made = 0
      let unread = Editor(in: context)
      #expect(Editor.made == 0)
      unread.draft = library.eden
      try await library.make(source, .title(1, "Éden"))
      #expect(
        Editor.made == 0 && unread.draft?.title == "Éden" && unread.draft === library.eden,
        "an assignment before the first read takes its place")

      weak var reference: Reference<Novel>?
      weak var draft: Novel?
      let observer: ObservedReference<Novel>
      do {
        let editor = Editor(in: context)
        draft = editor.draft
        #expect(Editor.made == 1 && editor.draft === draft && editor.draft?.modelContext === context)
        observer = ObservedReference(editor.$draft)
        reference = editor.$draft
        var heard: [String] = []
        let token = observer.projectedValue.onDidChange { heard.append(name($0)) }
        editor.draft?.title = "Fiasco"
        observer.wrappedValue?.title = "Fiasco!"
        #expect(heard == ["Untitled is Fiasco", "Fiasco is Fiasco!"] && Editor.made == 1)
        context.rollback()  // nothing but its owner holds it from here on
        _ = token
      }
      await library.turn()
      #expect(reference == nil && draft == nil && observer.wrappedValue == nil)
      observer.wrappedValue = library.eden
      #expect(observer.wrappedValue == nil)

      let first = Copied()
      let second = first
      first.draft = library.eden
      #expect(second.draft === library.eden)
    }
  }
}

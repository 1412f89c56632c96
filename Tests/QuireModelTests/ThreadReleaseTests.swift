import Quire
import TestSupport
import Testing

/// The last reference of an object may go anywhere. Run with `--sanitize=thread` too.
@Suite(.fewAtOnce) struct ThreadReleaseTests {
  @MainActor final class Holder {
    var volume: Volume?
    init(_ volume: Volume) { self.volume = volume }
  }

  @Test @MainActor func `objects released on other threads do no harm to the context that goes on`() async throws {
    let store = try store()
    let context = store.mainContext
    context.autosaveEnabled = false
    for index in 0..<200 {
      context.insert(Volume("\(index)", writer: Writer(name: "w\(index)")))
    }
    try context.save()
    for round in 0..<20 {
      let holders = try context.all(Volume.self).map { Holder($0) }
      for holder in holders { _ = holder.volume?.writer?.name }
      // Each holder, and with it the last outside reference of its object, goes on some other thread.
      let releases = holders.map { holder in Task.detached { [holder] in withExtendedLifetime(holder) {} } }
      for index in 0..<20 {
        let volume = try context.volume("\(index)")
        volume.price = Double(round * 100 + index)
        try context.refresh()
      }
      try context.save()
      for release in releases { await release.value }
    }
    #expect(try store.value("SELECT count(*) FROM volume WHERE price >= 1900") == 20)
  }

  @Test func `a whole context and its objects may go on another thread`() async throws {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    for _ in 0..<50 {
      let box = await Task { @MainActor in
        let context = ModelContext(store)
        let volumes = (try? context.all(Volume.self)) ?? []
        return MainActorBox(context, volumes)
      }.value
      await Task.detached { withExtendedLifetime(box) {} }.value
    }
    for _ in 0..<10_000 where await MainActor.run(body: { ModelContext(store).registeredCount }) != 0 {
      await turn()
    }
    #expect(try store.value("SELECT count(*) FROM volume") == 2)
  }

  @MainActor final class MainActorBox {
    let context: ModelContext
    let volumes: [Volume]
    init(_ context: ModelContext, _ volumes: [Volume]) {
      self.context = context
      self.volumes = volumes
    }
  }
}

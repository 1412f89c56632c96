import Quire
import TestSupport
import Testing

/// What observation costs those who do not use it.
@Suite(.fewAtOnce) struct RegistrarTests {
  @Test func `reads are known to be tracked or not`() { #expect(ContextCore.knowsTracking) }

  @Test func `objects that nobody tracks have no registrar, also after being read, edited, fetched and saved`() throws {
    let store = try store(["Lem": ["Eden", "Solaris"], "Le Guin": ["The Dispossessed"]])
    let context = ModelContext(store)
    let volumes = try context.all(Volume.self)
    let writers = try context.all(Writer.self)
    for volume in volumes {
      _ = (volume.title, volume.year, volume.writer?.volumes.count, volume.contributors)
      volume.price += 1
      volume.contributors = [writers[0]]
    }
    let wanted = "Eden"
    _ = try context.fetch(
      FetchDescriptor<Volume>(
        predicate: #Predicate { $0.title == wanted || $0.writer?.name == wanted },
        sortBy: [SortDescriptor(\.writer?.name), SortDescriptor(\.price)]))
    try context.save()
    try store.execute("UPDATE volume SET price = 9")
    try context.refresh()
    context.delete(volumes[0])
    context.rollback()
    #expect(volumes.count { $0.isTracked } + writers.count { $0.isTracked } == 0)
  }

  @Test func `only what is tracked gets one`() throws {
    let context = ModelContext(try store(["Lem": ["Eden", "Solaris"]]))
    let volumes = try context.all(Volume.self)
    let title = tracking { _ = volumes[0].title }
    #expect(volumes.map(\.isTracked) == [true, false])
    volumes[0].title = "heard"
    #expect(title.count == 1)
  }

  @Test func `a fetch inside a tracking depends on nothing it only looked at`() throws {
    let context = ModelContext(try store(["Lem": ["Eden", "Solaris"]]))
    let volumes = try context.all(Volume.self)
    volumes[0].year = 1  // pending: judged in memory
    let found = tracking { _ = try? context.fetch(FetchDescriptor<Volume>(predicate: #Predicate { $0.year == 1 })) }
    volumes[0].year = 2
    #expect(found.count == 0)
    #expect(!volumes[0].isTracked)
  }

  @Test func `the closure of a tracking that never fires is freed when its context is used again`() throws {
    final class Witness: Sendable {}
    let context = ModelContext(try store(["Lem": ["Eden"]]))
    let eden = try context.volume("Eden")
    weak var witness: Witness?
    func track() {
      let held = Witness()
      witness = held
      // Nothing of the object is read: only the probe has seen this tracking.
      withObservationTracking {
        _ = eden.hasChanges; _ = eden.isTracked; _ = context.hasChanges
      } onChange: {
        _ = held
      }
    }
    track()
    #expect(witness == nil)
    func trackOther() throws {
      let held = Witness()
      witness = held
      let passing = Volume("passing")
      context.insert(passing)
      try context.save()
      withObservationTracking {
        _ = passing.title
      } onChange: {
        _ = held
      }
    }
    try trackOther()
    try context.refresh()  // frees the object with its registrar
    _ = eden.title  // an untracked read: the probe is replaced
    #expect(witness == nil)
  }

  @Test func `who tracks an object before its insertion hears of changes after it`() throws {
    let context = ModelContext(try store())
    let new = Volume("new")
    let title = tracking { _ = new.title }
    context.insert(new)
    try context.save()
    #expect(title.count == 0)
    new.title = "newer"
    #expect(title.count == 1)
  }
}

extension RegistrarTests {
  @Test func `a context that is made, read and freed inside a tracking leaves nothing dangling in it`() throws {
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    for _ in 0..<200 {
      let title = tracking {
        _ = eden.title
        for _ in 0..<5 { _ = try? ModelContext(store).volume("Eden").title }  // freed before the tracking is installed
      }
      eden.title += "!"
      #expect(title.count == 1)
    }
  }
}

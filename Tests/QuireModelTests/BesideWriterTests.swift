import Quire
import Synchronization
import TestSupport
import Testing

/// Contexts made while others commit: what is there is found, at whatever moment they look.
@Suite(.fewAtOnce) struct BesideWriterTests {
  @Test func `a fresh context finds every row that is there, whoever commits meanwhile`() throws {
    let store = try QuireModelTests.store(["Lem": (0..<50).map { "Volume \($0)" }])
    let isOver = Atomic(false)
    let wrong = Locked([String]())
    let writer = Thread {
      let context = ModelContext(store, isolation: nil)
      var number: Int64 = 0
      while !isOver.load(ordering: .relaxed) {
        number += 1
        context.model(Volume.self, key: number % 50 + 1)?.price += 1
        do { try context.save() } catch { wrong.withLock { $0.append("\(error)") } }
      }
    }
    let readers = (0..<3).map { reader in
      Thread {
        for number in 0..<2000 {
          let key = Int64((number + reader * 17) % 50 + 1)
          let context = ModelContext(store, isolation: nil)
          do {
            switch number % 4 {
            case 0: if try context.get(Volume.self, key: key) == nil { wrong.withLock { $0.append("get: nil") } }
            case 1: if context.model(Volume.self, key: key) == nil { wrong.withLock { $0.append("model: nil") } }
            case 2:
              let found = try context.fetchCount(FetchDescriptor<Volume>(predicate: #Predicate { $0.price >= 0 }))
              if found != 50 { wrong.withLock { $0.append("count: \(found)") } }
            default:
              let live = try context.live(Volume.self)
              if live.count != 50 || live.error != nil { wrong.withLock { $0.append("live: \(live.count)") } }
            }
          } catch {
            wrong.withLock { $0.append("\(error)") }
          }
          let errors = context.drainDeferredErrors()
          if !errors.isEmpty { wrong.withLock { $0.append("\(errors)") } }
        }
      }
    }
    writer.start()
    run(readers)
    isOver.store(true, ordering: .relaxed)
    while !writer.isFinished { usleep(500) }
    #expect(wrong.withLock { Array($0.prefix(3)) } == [])
  }

  @Test func `nil means that there is no such row, and what cannot be read is thrown`() throws {
    let store = try QuireModelTests.store(["Lem": ["Solaris"]])
    let context = ModelContext(store)
    #expect(try context.get(Volume.self, key: 1)?.title == "Solaris")
    #expect(try context.get(Volume.self, key: 2) == nil)
    try store.execute("UPDATE volume SET title = CAST(x'61FF' AS TEXT)")
    #expect(throws: ModelError.self) { try ModelContext(store).get(Volume.self, key: 1) }
  }
}

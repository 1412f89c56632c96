import Quire
import TestSupport
import Testing

@testable import QuireModel

/// `saveWhenReady` at random beside plain saves of the same edits.
@Suite(.fewOnMainActor) @MainActor struct SaveWhenReadyRandomTests {
  @Test(arguments: RandomTransactionTests.seeds)
  func `what was edited before and during it is saved as by two saves, and if it fails as by one`(seed: UInt64)
    async throws
  {
    let tried = try Play(seed)
    let plain = try Play(seed)
    for play in [tried, plain] { play.avoidsDeleted = true }
    // An object that refers to one that was deleted and saved is refused, in both.
    func save(_ play: Play) -> Bool {
      while true {
        do {
          try play.context.save()
          return true
        } catch ModelError.ignoredAssignments {
        } catch {
          play.context.rollback()
          return false
        }
      }
    }
    for round in 0..<4 {
      try tried.edit(steps: 6)
      try plain.edit(steps: 6)
      let fails = (seed + UInt64(round)) % 3 == 0
      let isRefused = !fails && !save(plain)
      let gate = try await ServingTests.Gate(tried.store)
      let context = tried.context
      context.bind(to: MainActor.shared)
      var hasEnded = false
      let task = Task {
        defer { hasEnded = true }
        do {
          try await context.saveWhenReady()
        } catch ModelError.ignoredAssignments {
          try await context.saveWhenReady()
        }
      }
      while context.owner.saver.underWay == nil, !hasEnded { await Task.yield() }
      if !isRefused {
        // What an unsaved object has goes with it at once, and what a saved one has with the save.
        for play in [tried, plain] {
          play.keepsWriters = true
          try play.edit(steps: 6)
          play.keepsWriters = false
        }
      }
      if fails { task.cancel() }
      try await gate.open()
      let result = await task.result
      #expect(tried.context.owner.saver.underWay == nil)
      if isRefused {
        #expect(throws: (any Error).self) { try result.get() }
        tried.context.rollback()
      } else if !fails {
        try result.get()
      }
    }
    let isSaved = save(tried)
    #expect(isSaved == save(plain), "seed \(seed)")
    #expect(try tried.rows() == plain.rows(), "seed \(seed)")
    #expect(!tried.context.hasChanges)
    let fresh = ModelContext(tried.store)
    for volume in tried.volumes where !volume.isDeleted && volume.modelContext != nil {
      let row = try #require(fresh.model(for: volume.persistentModelID) as? Volume, "seed \(seed)")
      #expect(row.title == volume.title && row.year == volume.year && row.writer?.name == volume.writer?.name)
      #expect(Set(row.contributors.map(\.name)) == Set(volume.contributors.map(\.name)), "seed \(seed)")
    }
  }
}

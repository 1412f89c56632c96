import CSQLite
import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireModel

/// SQLite's memory runs out at each of its allocations while a store is opened and used: an error, and a file that is as
/// whole as before.
@Suite(.timeLimit(.minutes(60))) struct OutOfMemoryTests {
  /// SQLite's allocator, of which one allocation fails, or all from that one on. For a process of its own: it must be
  /// installed before SQLite is used at all.
  private enum Memory {
    nonisolated(unsafe) static var real = sqlite3_mem_methods()
    nonisolated(unsafe) static var count = 0
    nonisolated(unsafe) static var failing = Int.max
    nonisolated(unsafe) static var isOver = false

    static func fails() -> Bool {
      count += 1
      return isOver ? count >= failing : count == failing
    }

    static func install() throws {
      typealias Config = @convention(c) (Int32, UnsafeMutableRawPointer) -> Int32
      let config = unsafeBitCast(try #require(dlsym(dlopen(nil, RTLD_NOW), "sqlite3_config")), to: Config.self)
      try #require(config(SQLITE_CONFIG_GETMALLOC, &real) == SQLITE_OK)
      var methods = real
      methods.xMalloc = { Memory.fails() ? nil : Memory.real.xMalloc($0) }
      methods.xRealloc = { Memory.fails() ? nil : Memory.real.xRealloc($0, $1) }
      try #require(config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK)
    }
  }

  private static func use(_ file: URL) throws {
    var configuration = ModelConfiguration(url: file)
    configuration.synchronous = .off
    let store = try ModelContainer(for: Writer.self, Volume.self, configurations: configuration)
    let context = ModelContext(store, isolation: nil)
    let live = try context.live(Volume.self, sortBy: [SortDescriptor(\.title)])
    context.insert(Volume("new", writer: try context.all(Writer.self).first))
    try context.save()
    _ = live.map(\.title)
    try store.database.close()
  }

  private static func run(each step: Int) throws {
    try Memory.install()
    for isOver in [false, true] {
      for isNew in [true, false] {
        Memory.isOver = isOver
        var number = 1
        while true {
          let file = try TemporaryFile()
          if !isNew { try use(file.url) }
          (Memory.count, Memory.failing) = (0, number)
          try? use(file.url)
          let isReached = Memory.count >= number
          Memory.failing = .max
          try use(file.url)
          if !isReached { break }
          number += step
        }
        #expect(number > 1000)
      }
    }
  }

  @Test func `an allocation of SQLite's that fails is an error, and the file is whole`() async {
    await #expect(processExitsWith: .success) { try OutOfMemoryTests.run(each: 37) }
  }

  @Test(.enabled(if: isSoaking)) func `so is each of them`() async {
    await #expect(processExitsWith: .success) { try OutOfMemoryTests.run(each: 1) }
  }
}

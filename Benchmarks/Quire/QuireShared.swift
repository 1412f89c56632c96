import Foundation
import LocalEtcd
import Quire
import QuireModel
import QuireSQLite
import QuireShared

/// `shared-…`: a store that several machines have, all of them on this one, with three members of etcd.
@MainActor final class SharedMachines {
  let cluster: EtcdCluster
  private(set) var stores: [ModelContainer] = []
  private let first: String
  private let name = "bench-\(UUID().uuidString)"

  init(_ stage: Stage, machines: Int) throws {
    cluster = try EtcdCluster(3)
    try cluster.waitForLeader()
    first = try stage.file()
    let log = EtcdLog(name, at: cluster.addresses)
    try StoreNode.share(first, on: log, named: name, as: "node-0")
    var files = [first]
    for number in 1..<max(machines, 1) { files.append(try file(of: "node-\(number)")) }
    for (number, file) in files.enumerated() { stores.append(try open(file, number: number)) }
  }

  /// A copy of the first file for another machine.
  func file(of node: String) throws -> String {
    let file = "\(first)-\(node)"
    let source = try Connection(path: first, access: .readOnly)
    _ = try source.copy(toFile: file, of: first, replacing: false, interruption: MigrationInterruption()) { _, _ in }
    try StoreNode.adopt(file, to: EtcdLog(name, at: cluster.addresses), named: name, as: node)
    return file
  }

  func open(_ file: String, number: Int) throws -> ModelContainer {
    try ModelContainer(
      for: Author.self, Book.self,
      configurations: ModelConfiguration(
        url: URL(filePath: file), shared: .etcd(name, at: cluster.addresses(from: number))))
  }

  func close() throws { for store in stores { try store.close() } }
}

/// `append`: bare entries of the size of a one-row commit, one after another, by so many clients that try again.
@MainActor final class BareAppends: Variant {
  private let cluster: EtcdCluster
  private let clients, count: Int

  init(clients: Int, count: Int) throws {
    cluster = try EtcdCluster(3)
    try cluster.waitForLeader()
    (self.clients, self.count) = (clients, count)
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    let (addresses, share) = (cluster.addresses, count / clients)
    let name = "bare-\(number)"
    _ = try EtcdLog(name, at: addresses).create(UUID(), replacing: nil, by: .now + .seconds(10))
    let clients = clients
    try await meter.measureLoad {
      try await onThreads(clients) { client in
        let log = EtcdLog(name, at: addresses)
        // Entries without rows need no history: each has the mark of the first.
        func end(_ position: Int64) -> LogEnd { LogEnd(position: position, mark: LogEnd.start.mark) }
        var (position, waits) = (try log.status(by: .now + .seconds(10)).last, [Double]())
        for _ in 0..<share {
          let begun = now()
          while true {
            let answer = try log.append(
              [UInt8](repeating: 7, count: 60), after: end(position), mark: end(position).mark,
              turn: Turn(node: "\(client)"), isNext: true, by: .now + .seconds(10))
            switch answer {
            case .added(let place): position = place
            case .behind(let entries):
              position = entries.last?.position ?? position
              continue
            case .queued, .forked: continue
            }
            break
          }
          waits.append(Double(now() - begun))
        }
        return waits
      }
    }
    return Checksum()
  }
}

/// So many clients on so many machines, each of which saves one row after another.
@MainActor final class QuireSharedSaves: Variant {
  private let machines: SharedMachines
  private let clients, count: Int
  private let keys: [Int64]

  init(_ stage: Stage, machines: Int, clients: Int, count: Int) throws {
    self.machines = try SharedMachines(stage, machines: machines)
    (self.clients, self.count) = (clients, count)
    keys = Array(Workload.shuffledKeys(stage.rows).prefix(count))
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    let (stores, clients, keys) = (machines.stores, clients, keys)
    try await meter.measureLoad { try await Self.play(stores, clients, keys, number) }
    return Checksum()
  }

  private nonisolated static func play(_ stores: [ModelContainer], _ clients: Int, _ keys: [Int64], _ number: Int)
    async throws -> [Double]
  {
    try await withThrowingTaskGroup(of: [Double].self) { group in
      for client in 0..<clients {
        group.addTask {
          var waits: [Double] = []
          for place in stride(from: client, to: keys.count, by: clients) {
            let (key, begun) = (keys[place], now())
            let rating = RawUpdate.rating(key, round: number)
            try await stores[client % stores.count].write { try $0.get(Book.self, key: key)?.rating = rating }
            waits.append(Double(now() - begun))
          }
          return waits
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  func close() async throws { try machines.close() }
}

/// One row saved on one machine, until a live list on another shows it.
@MainActor final class QuireSharedLive: Variant {
  private let machines: SharedMachines
  private let count: Int
  private let context, other: ModelContext
  private let list: LiveQuery<Book>

  init(_ stage: Stage, count: Int) throws {
    machines = try SharedMachines(stage, machines: 2)
    self.count = count
    context = ModelContext(machines.stores[0])
    other = ModelContext(machines.stores[1])
    list = try other.live(Book.self, sortBy: [SortDescriptor(\.rating, order: .reverse)], limit: 100)
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    guard let book = list.first, let mine = try context.get(Book.self, key: book.key) else { return Checksum() }
    try await meter.measureLoad {
      var waits: [Double] = []
      for step in 0..<count {
        let begun = now()
        let rating = 1000 + Double(number * count + step)
        let (shown, note) = AsyncStream<Void>.makeStream()
        let reader = observe { [list] in if list.first?.rating == rating { note.finish() } }
        mine.rating = rating
        try context.save()
        for await _ in shown {}
        waits.append(Double(now() - begun))
        withExtendedLifetime(reader) {}
      }
      return waits
    }
    return Checksum()
  }

  func close() async throws { try machines.close() }
}

/// A machine that was away, opened until it has the commits that it has missed.
@MainActor final class QuireSharedCatchUp: Variant {
  private let machines: SharedMachines
  private let keys: [Int64]

  init(_ stage: Stage, count: Int) throws {
    machines = try SharedMachines(stage, machines: 1)
    keys = Array(Workload.shuffledKeys(stage.rows).prefix(count))
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    let away = try machines.file(of: "away-\(number)")
    let (store, keys) = (machines.stores[0], keys)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for client in 0..<64 {
        group.addTask {
          for place in stride(from: client, to: keys.count, by: 64) {
            let key = keys[place]
            try await store.write { try $0.get(Book.self, key: key)?.rating = RawUpdate.rating(key, round: number) }
          }
        }
      }
      try await group.waitForAll()
    }
    try await meter.measureLoad {
      let begun = now()
      let store = try machines.open(away, number: 1)
      let each = Double(now() - begun) / Double(keys.count)
      try store.close()
      return [Double](repeating: each, count: keys.count)
    }
    return Checksum()
  }

  func close() async throws { try machines.close() }
}

/// A machine that joins a store of 64 MB: from the snapshot in etcd to a file that can be opened.
@MainActor final class QuireSharedJoin: Variant {
  private let cluster: EtcdCluster
  private let first: String
  private let name = "bench-\(UUID().uuidString)"

  init(_ stage: Stage) throws {
    cluster = try EtcdCluster(3)
    try cluster.waitForLeader()
    first = try stage.file()
    // Random, so that nothing on the way makes it smaller.
    _ = try Connection(path: first, access: .readWrite).execute(
      "CREATE TABLE filler (content BLOB)")
    _ = try Connection(path: first, access: .readWrite).execute(
      "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 16000) INSERT INTO filler SELECT randomblob(4000) FROM n"
    )
    let log = EtcdLog(name, at: cluster.addresses)
    try StoreNode.share(first, on: log, named: name, as: "node-0")
    _ = try Snapshot.store(of: Connection(path: first, access: .readOnly), in: log, patience: .seconds(30))
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    let (file, log) = ("\(first)-joined-\(number)", EtcdLog(name, at: cluster.addresses))
    try await meter.measureLoad {
      let begun = now()
      try StoreNode.join(file, to: log, named: name, as: "node-1", patience: .seconds(30))
      return [Double(now() - begun)]
    }
    try FileManager.default.removeItem(atPath: file)
    return Checksum()
  }
}

/// Runs a body on so many threads, and gathers what they return.
private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> [Double]) async throws -> [Double] {
  try await withThrowingTaskGroup(of: [Double].self) { group in
    for number in 0..<count {
      group.addTask {
        try await withCheckedThrowingContinuation { continuation in
          Thread.detachNewThread { continuation.resume(with: Result { try body(number) }) }
        }
      }
    }
    return try await group.reduce(into: []) { $0 += $1 }
  }
}

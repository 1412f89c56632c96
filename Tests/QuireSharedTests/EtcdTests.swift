import Foundation
import LocalEtcd
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShared

/// The same promises over a real engine: Debian's etcd-server, three members on this machine.
@Suite(.serialized, .enabled(if: EtcdCluster.isThere, "etcd-server is not installed: Scripts/setup --etcd"))
struct EtcdTests {
  /// A log on a cluster that has come up.
  private func log(
    _ cluster: EtcdCluster, from member: Int = 0, patience: Duration = .seconds(2), leaseSeconds: Int64 = 10
  ) throws -> EtcdLog {
    let endpoints = Array(cluster.addresses[member...] + cluster.addresses[..<member])
    let log = EtcdLog("library", at: endpoints, patience: patience, leaseSeconds: leaseSeconds)
    for _ in 0..<100 {
      do throws(SharedLogError) {
        _ = try log.create(UUID(), replacing: nil, by: .now + .seconds(2))
        _ = try log.status(by: .now + .seconds(2))
        return log
      } catch { Thread.sleep(forTimeInterval: 0.1) }
    }
    _ = try log.status(by: .now + .seconds(2))
    return log
  }

  @Test func `the calls of a log do what they say`() async throws {
    let cluster = try EtcdCluster(1)
    // However busy the machine is, and however long this test waits for a thread between two calls: each call is made once,
    // and no turn ends by itself.
    let log = try log(cluster, patience: .seconds(300), leaseSeconds: 86_400)
    var soon: ContinuousClock.Instant { .now + .seconds(300) }
    let (me, you) = (Turn(node: "attic"), Turn(node: "cellar"))
    #expect(try log.create(UUID(), replacing: nil, by: soon) == false)
    let made = UUID()
    #expect(try log.create(made, replacing: UUID(), by: soon) == false)
    #expect(try log.create(made, replacing: log.status(by: soon).log, by: soon))
    let id = try log.status(by: soon).log
    #expect(id == made)
    let (news, told) = AsyncStream.makeStream(of: LogNews.self)
    let signs = Locked(Set<Int64>())
    let subscription = log.follow(after: 0) { news in
      var news = news
      if case .turns(let turns, let sign) = news {
        signs.withLock { _ = $0.insert(sign) }
        news = .turns(turns, sign: 0)
      }
      told.yield(news)
    }
    var heard = news.makeAsyncIterator()
    #expect(await heard.next() == .reachable(true))
    #expect(try log.append([1], after: 0, turn: me, isNext: false, by: soon) == .added(1))
    #expect(await heard.next() == .entries([LoggedEntry(position: 1, bytes: [1])]))
    #expect(
      try log.append([2], after: 0, turn: you, isNext: false, by: soon)
        == .behind([LoggedEntry(position: 1, bytes: [1])]))
    #expect(await heard.next() == .turns([you], sign: 0))
    #expect(try log.append([3], after: 1, turn: me, isNext: false, by: soon) == .queued)
    #expect(await heard.next() == .turns([you, me], sign: 0))
    // One that says that it goes on keeps its place.
    let before = signs.withLock(\.count)
    try log.stay(you, by: soon)
    #expect(await heard.next() == .turns([you, me], sign: 0))
    #expect(signs.withLock(\.count) == before + 1)
    #expect(try log.append([2], after: 1, turn: you, isNext: true, by: soon) == .added(2))
    #expect(await heard.next() == .entries([LoggedEntry(position: 2, bytes: [2])]))
    #expect(await heard.next() == .turns([me], sign: 0))
    #expect(try log.append([3], after: 9, turn: me, isNext: true, by: soon) == .forked(last: 2))
    let other = LogEnd(position: 2, mark: LogEnd.start.mark)  // the same position, and another history
    #expect(try log.append([3], after: other, mark: other.mark, turn: me, isNext: true, by: soon) == .forked(last: 2))
    #expect(try log.append([3], after: 2, turn: me, isNext: true, by: soon) == .added(3))
    #expect(await heard.next() == .entries([LoggedEntry(position: 3, bytes: [3])]))
    #expect(await heard.next() == .turns([], sign: 0))
    #expect(try log.append([4], after: 2, turn: you, isNext: false, by: soon) != .added(4))
    #expect(await heard.next() == .turns([you], sign: 0))
    try log.leave(you, by: soon)
    #expect(await heard.next() == .turns([], sign: 0))
    try log.stay(you, by: soon)  // not in the queue
    #expect(try log.entries(after: 1, limit: 1, by: soon) == [LoggedEntry(position: 2, bytes: [2])])
    #expect(try log.entries(after: 3, limit: 9, by: soon) == [])
    try log.trim(through: 2, by: soon)
    #expect(throws: SharedLogError.trimmed(oldest: 3)) { try log.entries(after: 0, limit: 9, by: soon) }
    #expect(try log.status(by: soon) == LogStatus(log: id, end: .at(3), oldest: 3))
    let bytes = (0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try log.store(bytes, as: Part(.snapshot(position: 1, id: id), "0"), by: soon)
    #expect(try log.part(Part(.snapshot(position: 1, id: id), "0"), by: soon) == bytes)
    #expect(try log.part(.newestSnapshot, by: soon) == nil)
    #expect(try log.parts(of: .snapshot(position: 1, id: id), by: soon) == ["0": bytes])
    try log.store([1], as: Part(.findings(position: 2), "attic"), by: soon)
    try log.store([2], as: Part(.findings(position: 3), "attic"), by: soon)
    try log.trim(through: 2, by: soon)
    #expect(try log.parts(of: .findings(position: 2), by: soon).isEmpty)
    #expect(try log.parts(of: .findings(position: 3), by: soon) == ["attic": [2]])
    try log.remove(.snapshot(position: 1, id: id), by: soon)
    #expect(try log.parts(of: .snapshot(position: 1, id: id), by: soon).isEmpty)
    let large = [UInt8](repeating: 0, count: 1_000_001)
    #expect(throws: SharedLogError.tooLarge(limitInBytes: 1_000_000)) {
      try log.append(large, after: 3, turn: me, isNext: true, by: soon)
    }
    withExtendedLifetime(subscription) {}
  }

  @Test func `a log that is not there, or does not answer, is said`() throws {
    let log = EtcdLog("library", at: ["127.0.0.1:1"])
    #expect(throws: SharedLogError.self) { try log.status(by: .now + .seconds(1)) }
    #expect(throws: SharedLogError.self) {
      try log.append([1], after: 0, turn: Turn(node: "x"), isNext: false, by: .now + .seconds(1))
    }
  }

  @Test func `what answers and is not etcd is named, also after it was asked again`() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        #expect(bind(listener, address, size) == 0 && listen(listener, 8) == 0)
        getsockname(listener, address, &size)
      }
    }
    let port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread {
      var taken = accept(listener, nil, nil)
      var asked = [UInt8](repeating: 0, count: 4096)
      while taken >= 0 {
        _ = recv(taken, &asked, asked.count, 0)
        let answer = Array("HTTP/1.0 400 Bad Request\r\nContent-Length: 3\r\n\r\nno\n".utf8)
        _ = send(taken, answer, answer.count, Int32(MSG_NOSIGNAL))
        close(taken)
        taken = accept(listener, nil, nil)
      }
    }
    defer {
      shutdown(listener, Int32(SHUT_RDWR))
      close(listener)
    }
    for repeats in [false, true] {
      let log = EtcdLog("library", at: ["127.0.0.1:\(port)"], repeats: repeats)
      let error = #expect(throws: SharedLogError.self) { try log.status(by: .now + .seconds(1)) }
      #expect("\(error as Any)".contains("what answers at 127.0.0.1:\(port) is not etcd"))
    }
  }

  @Test func `a member that has lost the others refuses, so that nothing is in doubt`() throws {
    let cluster = try EtcdCluster(3)
    try cluster.waitForLeader()
    let scratch = try Scratch()
    let file = scratch.file("node.db")
    let log = EtcdLog("library", at: [cluster.addresses[0]])
    _ = try Connection(path: file, access: .create).execute("CREATE TABLE loose (a)")
    try StoreNode.share(file, on: log, named: "library", as: "node", patience: .seconds(60))
    let database = try Database(DatabaseConfiguration(.file(file), access: .readWrite))
    let node = try StoreNode.attach(database, to: log, named: "library", patience: .seconds(5))
    func write() throws { try database.write { _ = try $0.connection.execute("INSERT INTO loose VALUES (1)") } }
    try write()
    for number in [1, 2] { cluster.kill(number) }
    // It notices within some seconds.
    var isKnown = false
    while !isKnown {
      do throws(SharedLogError) {
        _ = try log.entries(after: 0, limit: 1, by: .now + .seconds(60))
      } catch {
        if case .unreachable(let reason) = error { isKnown = reason.contains("no leader") }
      }
    }
    for _ in 0..<2 {
      let error = #expect(throws: SharedStoreError.self) { try write() }
      guard case .cutOff? = error else { throw error! }
    }
    #expect(log.members(by: .now + .seconds(60))[0].version != nil)
    withExtendedLifetime(node) {}
  }

  @Test func `three nodes on three members lose nothing while members are killed`() throws {
    let cluster = try EtcdCluster(3)
    let scratch = try Scratch()
    let files = (0..<3).map { scratch.file("node-\($0).db") }
    _ = try log(cluster)
    _ = try Connection(path: files[0], access: .create).execute("CREATE TABLE loose (a INTEGER PRIMARY KEY, b TEXT)")
    try StoreNode.begin(files[0], on: log(cluster), named: "library", as: "node-0")
    for number in 1..<3 { try StoreNode.join(files[number], to: log(cluster), named: "library", as: "node-\(number)") }
    var nodes: [(database: Database, node: StoreNode)] = []
    for number in 0..<3 {
      let database = try Database(DatabaseConfiguration(.file(files[number]), access: .readWrite))
      nodes.append(
        (
          database,
          try StoreNode.attach(database, to: log(cluster, from: number), named: "library", patience: .seconds(20))
        ))
    }
    let (count, deaths) = isSoaking ? (2000, 5) : (120, 2)
    let state = Locked((acknowledged: 0, failures: [String](), times: [Double]()))
    let group = DispatchGroup()
    for (number, node) in nodes.enumerated() {
      group.enter()
      Thread.detachNewThread {
        for step in 0..<count {
          let begun = ContinuousClock.now
          do {
            try node.database.write { transaction in
              _ = try transaction.connection.execute(
                "INSERT INTO loose (b) VALUES (?)", [.text("\(number) \(step)")])
            }
            state.withLock { state in
              state.acknowledged += 1
              state.times.append(begun.duration(to: .now).seconds * 1000)
            }
          } catch { state.withLock { $0.failures.append("\(error)") } }
        }
        group.leave()
      }
    }
    for death in 0..<deaths {
      Thread.sleep(forTimeInterval: 0.5)
      cluster.kill(death % 3)
      Thread.sleep(forTimeInterval: 0.3)
      try cluster.restart(death % 3)
    }
    group.wait()
    for node in nodes { try node.node.catchUpWithLog(by: .now + .seconds(20)) }
    let (acknowledged, failures, times) = state.withLock { ($0.acknowledged, $0.failures, $0.times.sorted()) }
    #expect(failures == [] && acknowledged == 3 * count)
    let rows = try nodes.map { try $0.database.read { try $0.query("SELECT * FROM loose ORDER BY a").rows } }
    #expect(rows[0].count == 3 * count && Set(rows[0].map { $0[1] }).count == 3 * count)
    #expect(rows[1] == rows[0] && rows[2] == rows[0])
    print(
      "etcd: \(acknowledged) commits, \(deaths) members killed; p50 \(times[times.count / 2]) ms, "
        + "p99 \(times[times.count * 99 / 100]) ms, longest \(times.last ?? 0) ms")
  }

  @Test(.enabled(if: EtcdCluster.hasTool, "etcdctl is not installed: apt-get install etcd-client"))
  func `an etcd that was restored from an older snapshot stops the nodes that were further, and they take nothing`()
    throws
  {
    let cluster = try EtcdCluster(3)
    let scratch = try Scratch()
    let files = (0..<3).map { scratch.file("node-\($0).db") }
    _ = try log(cluster)
    _ = try Connection(path: files[0], access: .create).execute("CREATE TABLE loose (a INTEGER PRIMARY KEY, b TEXT)")
    try StoreNode.begin(files[0], on: log(cluster), named: "library", as: "node-0")
    for number in 1..<3 { try StoreNode.join(files[number], to: log(cluster), named: "library", as: "node-\(number)") }
    func open(_ number: Int) throws -> (database: Database, node: StoreNode) {
      let database = try Database(DatabaseConfiguration(.file(files[number]), access: .readWrite))
      let log = try log(cluster, from: number)
      return (database, try StoreNode.attach(database, to: log, named: "library", patience: .seconds(60)))
    }
    func write(_ database: Database, _ count: Int) throws {
      for _ in 0..<count { _ = try database.write { try $0.connection.execute("INSERT INTO loose (b) VALUES ('x')") } }
    }
    let (first, second, third) = (try open(0), try open(1), try open(2))
    try write(first.database, 5)
    for node in [second.node, third.node] { try node.catchUpWithLog(by: .now + .seconds(60)) }
    try third.database.close()
    third.node.end()
    let snapshot = scratch.file("etcd.snapshot")
    try cluster.control("--endpoints", cluster.addresses[0], "snapshot", "save", snapshot)
    try write(first.database, 3)
    try second.node.catchUpWithLog(by: .now + .seconds(60))
    try cluster.restore(snapshot)
    for node in [first, second] {
      #expect(throws: SharedStoreError.stopped(.forked(at: 6))) { try write(node.database, 1) }
      #expect(try node.database.read { try $0.query("SELECT count(*) FROM loose").first } == 8)
    }
    // The one that was away has nothing that the log has lost. It goes on, to the very position of the others.
    let late = try open(2)
    try write(late.database, 3)
    #expect(late.node.position == 8)
    for node in [first, second] {
      try node.database.close()
      node.node.end()
    }
    for number in 0..<2 {
      let (database, node) = try open(number)
      #expect(node.state == .stopped(.forked(at: 8)))
      #expect(throws: SharedStoreError.stopped(.forked(at: 8))) { try write(database, 1) }
      #expect(try database.read { try $0.query("SELECT count(*) FROM loose").first } == 8)
    }
    #expect(try log(cluster).status(by: .now + .seconds(60)).last == 8)
  }
}

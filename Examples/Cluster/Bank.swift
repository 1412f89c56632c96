import Foundation
import Quire
import QuireSQLite
import QuireShared

/// The store that the programs share: made, and compared in the end.
enum Bank {
  /// Makes the first file, shares it, and lets the others join.
  static func open(_ programs: Programs, count: Int, at addresses: [String]) throws {
    let file = programs.file(0)
    do {
      let store = try ModelContainer(for: Account.self, Transfer.self, url: URL(filePath: file))
      let context = ModelContext(store)
      for name in accountNames { context.insert(Account(name, balance: openingBalance)) }
      try context.save()
    }
    let log = EtcdLog("bank", at: addresses)
    try StoreNode.share(file, on: log, named: "bank", as: Programs.name(0))
    _ = try Snapshot.store(of: Connection(path: file, access: .readOnly), in: log, patience: .seconds(10))
    for number in 1..<count {
      try StoreNode.join(programs.file(number), to: log, named: "bank", as: Programs.name(number))
    }
  }

  /// Lets one more program join, while others write.
  static func join(_ programs: Programs, _ number: Int, at addresses: [String]) throws {
    try StoreNode.join(
      programs.file(number), to: EtcdLog("bank", at: addresses), named: "bank", as: Programs.name(number),
      patience: .seconds(10))
  }

  struct Outcome {
    var position: Int64 = 0
    /// Acknowledged, and not in the files.
    var lost = 0
    /// In the log without having been acknowledged: the program died first.
    var unacknowledged = 0
    var differences: [String] = []
    var sum = 0
    var isWhole: Bool { lost == 0 && differences.isEmpty && sum == openingBalance * accountNames.count }
  }

  /// Brings all files to the log's end, and compares them.
  static func compare(_ programs: Programs, count: Int, at addresses: [String]) throws -> Outcome {
    var outcome = Outcome()
    var contents: [FileContents] = []
    for number in 0..<count {
      let database = try Database(DatabaseConfiguration(.file(programs.file(number)), access: .readWrite))
      let node = try StoreNode.attach(
        database, to: EtcdLog("bank", at: addresses), named: "bank", patience: .seconds(20))
      try node.catchUpWithLog(by: .now + .seconds(60))
      if case .stopped(let stop) = node.state { outcome.differences.append("\(Programs.name(number)): \(stop)") }
      outcome.position = node.position
      contents.append(try database.read { try FileContents(of: $0) })
      if number == 0 {
        let codes = try database.read { try $0.query("SELECT code FROM transfer").rows }.map { "\($0[0])" }
        let known = Set(codes.map { $0.filter { $0 != "\"" && $0 != "'" } })
        let acknowledged = programs.all.flatMap(\.acknowledged)
        outcome.lost = acknowledged.count { !known.contains($0) }
        outcome.unacknowledged = known.count - (acknowledged.count - outcome.lost)
        if case .integer(let sum)? = try database.read({ try $0.query("SELECT sum(balance) FROM account").first }) {
          outcome.sum = Int(sum)
        }
      }
      try database.close()
    }
    for (number, other) in contents.enumerated().dropFirst() {
      if let difference = contents[0].difference(from: other) {
        outcome.differences.append("\(Programs.name(number)) differs in \(difference)")
      }
    }
    return outcome
  }
}

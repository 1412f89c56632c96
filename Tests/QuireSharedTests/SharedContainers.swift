import Foundation
import Quire
import TestSupport

@testable import QuireModel
@testable import QuireShared

@Model final class Branch {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Item.branch) var items: [Item] = []
  init(_ name: String) { self.name = name }
}

@Model final class Item {
  @Attribute(.unique) var code: String
  var stock = 0
  var note: String?
  var branch: Branch?
  init(_ code: String, stock: Int = 0, branch: Branch? = nil) {
    self.code = code
    self.stock = stock
    self.branch = branch
  }
}

/// Containers of several machines, with their objects and live results.
@MainActor final class SharedContainers {
  let scratch: Scratch
  let log = MemoryLog()
  private(set) var machines: [Machine] = []

  @MainActor final class Machine {
    let connection: MemoryLogConnection
    let store: ModelContainer
    let context: ModelContext
    let cheap: LiveQuery<Item>
    let total: LiveValue<Int>
    let sum: LiveValue<Int>

    init(_ file: String, _ connection: MemoryLogConnection, _ name: String, _ patience: Duration) throws {
      self.connection = connection
      store = try ModelContainer(
        for: Branch.self, Item.self,
        configurations: ModelConfiguration(
          url: URL(filePath: file), shared: SharedStore("library", on: connection, as: name, patience: patience)))
      context = ModelContext(store)
      cheap = try context.live(
        Item.self, where: #Predicate { $0.stock < 5 }, sortBy: [SortDescriptor(\.stock), SortDescriptor(\.code)],
        limit: 6)
      total = try context.liveCount(Branch.self)
      sum = try context.liveSum(\Item.stock)
    }

    /// What the live results have that a fetch does not give.
    ///
    /// - Parameter isQuiet: Whether nothing is being committed, so that the rows can be looked at too.
    func problem(isQuiet: Bool) throws -> String? {
      try context.refresh()
      let fetched = try context.fetch(
        FetchDescriptor<Item>(
          predicate: #Predicate { $0.stock < 5 }, sortBy: [SortDescriptor(\.stock), SortDescriptor(\.code)]))
      if Array(cheap).map(\.code) != fetched.prefix(6).map(\.code) { return "the list is \(cheap.map(\.code))" }
      let items = try context.fetch(FetchDescriptor<Item>())
      if sum.value != items.reduce(0, { $0 + $1.stock }) { return "the sum is \(sum.value)" }
      // Fetched first: that moves the context and its live results on.
      let branches = try context.fetchCount(FetchDescriptor<Branch>())
      if total.value != branches { return "the count is \(total.value) and not \(branches)" }
      if !isQuiet { return nil }
      let rows = try store.query("SELECT code, stock, note FROM item ORDER BY code")
      let shown = items.sorted { $0.code < $1.code }.map { "\($0.code) \($0.stock) \($0.note ?? "-")" }
      let stored = try rows.map {
        "\(try $0.value("code", as: String.self)) \(try $0.value("stock", as: Int.self)) \(try $0.value("note", as: String?.self) ?? "-")"
      }
      return shown == stored ? nil : "the objects are \(shown) and the rows \(stored)"
    }
  }

  init(_ count: Int, patience: Duration = .seconds(5), changeLog: ChangeLog = .asInFile) throws {
    scratch = try Scratch()
    _ = try ModelContainer(
      for: Branch.self, Item.self,
      configurations: ModelConfiguration(url: URL(filePath: scratch.file("0.db")), changeLog: changeLog))
    try StoreNode.begin(scratch.file("0.db"), on: log.connection(), named: "library", as: "machine-0")
    for number in 0..<count {
      machines.append(try Machine(scratch.file("\(number).db"), log.connection(), "machine-\(number)", patience))
    }
  }

  subscript(number: Int) -> Machine { machines[number] }

  /// What is wrong when all have everything.
  func problem() async throws -> String? {
    for machine in machines { try await machine.store.catchUp() }
    var dumps: [String] = []
    for (number, machine) in machines.enumerated() {
      if let problem = try machine.problem(isQuiet: true) { return "machine \(number): \(problem)" }
      dumps.append(
        try machine.store.store.database.read { connection in
          try ["branch", "item", "_quire_keys", "kept_value"].map {
            "\(try connection.query("SELECT * FROM \($0) ORDER BY 1").rows)"
          }
          .joined(separator: "\n")
        })
    }
    return Set(dumps).count == 1 ? nil : "the files differ: \(dumps)"
  }
}

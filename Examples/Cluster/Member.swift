import Foundation
import Quire
import QuireSQLite
import QuireShared

/// One program that shares the store: moves money about, and shows the accounts.
///
/// Prints `acknowledged CODE MILLISECONDS` for each transfer that was committed, `refused REASON` for the others, and
/// `shows STATE | NAME BALANCE | …` whenever its live list or its node's state changes. Reads `cut` and `join` from
/// standard input, which pull its cable and put it back, and ends at the end of it.
@MainActor final class Member {
  private let name: String
  private let pause: Int
  private let log: UnreliableLog
  private let store: ModelContainer
  private let context: ModelContext
  private let accounts: LiveQuery<Account>
  private var random = SystemRandomNumberGenerator()
  private var isEnding = false

  init(_ settings: Settings) throws {
    name = try settings.text("name")
    pause = try settings.number("pause", or: 0)
    let death = UnreliableLog.Death(rawValue: (try? settings.text("dies")) ?? "never") ?? .never
    log = UnreliableLog(
      EtcdLog("bank", at: try settings.text("at").split(separator: ",").map(String.init)), dying: death,
      after: try settings.number("after", or: 1))
    store = try ModelContainer(
      for: Account.self, Transfer.self,
      configurations: ModelConfiguration(
        url: URL(filePath: try settings.text("file")), shared: SharedStore("bank", on: log, as: name)))
    context = ModelContext(store)
    accounts = try context.live(
      Account.self, sortBy: [SortDescriptor(\.balance, order: .reverse), SortDescriptor(\.name)])
  }

  func run() async throws {
    let shown = observe { [unowned self] in show() }
    listen()
    var number = 0
    while !isEnding {
      number += 1
      await transfer("\(name)-\(getpid())-\(number)")
      if pause > 0 { try await Task.sleep(for: .milliseconds(Int.random(in: 0...2 * pause))) }
    }
    withExtendedLifetime(shown) {}
  }

  private func transfer(_ code: String) async {
    let begun = ContinuousClock.now
    var names = accountNames
    names.shuffle(using: &random)
    let (first, second, amount) = (names[0], names[1], Int.random(in: 1...20))
    do {
      let isDone = try await store.write(author: name) { context in
        let from = try context.fetch(FetchDescriptor<Account>(predicate: #Predicate { $0.name == first }))
        let to = try context.fetch(FetchDescriptor<Account>(predicate: #Predicate { $0.name == second }))
        guard let from = from.first, let to = to.first, from.balance >= amount else { return false }
        from.balance -= amount
        to.balance += amount
        context.insert(Transfer(code, amount: amount, from: from, to: to))
        return true
      }
      guard isDone else { return }
      let took = begun.duration(to: .now)
      say("acknowledged \(code) \(took / .milliseconds(1))")
    } catch {
      say("refused \(error)")
    }
  }

  // MARK: Showing

  /// Reads the live list and the state, so that it runs again when they change.
  private func show() {
    let state =
      switch store.node?.state {
      case .current, nil: "current"
      case .behind(let count): "\(count) behind"
      case .cutOff: "cut off"
      case .stopped: "stopped"
      }
    say("shows \(state) | " + accounts.map { "\($0.name) \($0.balance)" }.joined(separator: " | "))
  }

  // MARK: Input

  private func listen() {
    Thread.detachNewThread { [self] in
      while let line = readLine() {
        switch line {
        case "cut": log.isCutOff = true
        case "join": log.isCutOff = false
        default: break
        }
      }
      Task { @MainActor in isEnding = true }
    }
  }
}

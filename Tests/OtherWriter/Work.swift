import Foundation
import Quire

// `OtherWriter FILE work HOW LANE…` writes until it is killed, and `OtherWriter FILE follow` follows that.
//
// Each write of a lane is numbered, and is announced with `? LANE NUMBER` before and `! LANE NUMBER` after it. It leaves the
// lane with that number as its count, its ten latest loads, and three parcels in each. HOW is `save`, `write` (all lanes at
// once, so that writes are committed in groups) or `copy` (saves beside backups that follow each other), and behind a comma
// `log` for a change log or `short` for a checkpoint at nearly each commit.

@Model final class Lane {
  #Unique<Lane>([\.name])
  var name = ""
  var count = 0
  @Relationship(deleteRule: .cascade, inverse: \Load.lane) var loads: [Load] = []
  init(_ name: String) { self.name = name }
}

@Model final class Load {
  var number = 0
  var lane: Lane?
  @Relationship(deleteRule: .cascade, inverse: \Parcel.load) var parcels: [Parcel] = []
  init(_ number: Int) { self.number = number }
}

@Model final class Parcel {
  var text = ""
  var load: Load?
  init(_ text: String) { self.text = text }
}

/// In one call of the system, so that it is out when the program is killed.
private func tell(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  _ = Foundation.write(1, bytes, bytes.count)
}

private func lane(_ name: String, in context: ModelContext) throws -> Lane {
  let found = try context.fetch(FetchDescriptor<Lane>(predicate: #Predicate { $0.name == name })).first
  if let found { return found }
  let lane = Lane(name)
  context.insert(lane)
  return lane
}

private func work(_ name: String, _ number: Int, in context: ModelContext) throws {
  let lane = try lane(name, in: context)
  lane.count = number
  let load = Load(number)
  context.insert(load)
  load.lane = lane
  for part in 0..<3 {
    let parcel = Parcel("\(name) \(number) \(part) " + String(repeating: "x", count: number % 7 * 100))
    context.insert(parcel)
    parcel.load = load
  }
  let past = number - 10
  let old = #Predicate<Load> { $0.number == past && $0.lane?.name == name }
  for load in try context.fetch(FetchDescriptor(predicate: old)) { context.delete(load) }
}

func runWork(_ file: String, _ how: Set<Substring>, _ lanes: [String]) async throws {
  var configuration = ModelConfiguration(url: URL(filePath: file), changeLog: how.contains("log") ? .on() : .asInFile)
  if how.contains("short") { configuration.checkpointPages = 4 }
  let store = try ModelContainer(for: Lane.self, Load.self, Parcel.self, configurations: configuration)
  if how.contains("write") { return try await writeGroups(store, lanes) }
  let copies = Task {
    while how.contains("copy") {
      try await store.backup(to: URL(filePath: file + ".copy"), replacing: true)
      tell("! copy 0")
    }
  }
  defer { copies.cancel() }
  let context = ModelContext(store, isolation: nil)
  var numbers = try lanes.map { try lane($0, in: context).count }
  while true {
    for (place, name) in lanes.enumerated() {
      numbers[place] += 1
      tell("? \(name) \(numbers[place])")
      try work(name, numbers[place], in: context)
      try context.save()
      tell("! \(name) \(numbers[place])")
    }
  }
}

private func writeGroups(_ store: ModelContainer, _ lanes: [String]) async throws {
  try await withThrowingTaskGroup { group in
    for name in lanes {
      group.addTask {
        var number = try await store.write { try lane(name, in: $0).count }
        while true {
          number += 1
          let next = number
          tell("? \(name) \(next)")
          try await store.write { try work(name, next, in: $0) }
          tell("! \(name) \(next)")
        }
      }
    }
    try await group.waitForAll()
  }
}

/// Says for each line of input whether its live results have what a new context finds.
func runFollow(_ file: String) throws {
  let store = try ModelContainer(for: Lane.self, Load.self, Parcel.self, url: URL(filePath: file))
  let context = ModelContext(store, isolation: nil)
  let lanes = try context.live(Lane.self, sortBy: [SortDescriptor(\.name)])
  let loads = try context.live(Load.self)
  let parcels = try context.liveCount(Parcel.self)
  let sum = try context.liveSum(\Load.number)
  while let line = readLine() {
    if line.hasPrefix("print ") {
      tell(String(line.dropFirst(6)))
      continue
    }
    try context.refresh()
    let new = ModelContext(store, isolation: nil)
    let all = try new.fetch(FetchDescriptor<Load>()).map(\.number)
    let isSame =
      try lanes.map(\.count) == new.fetch(FetchDescriptor<Lane>(sortBy: [SortDescriptor(\.name)])).map(\.count)
      && loads.map(\.number).sorted() == all.sorted() && parcels.value == new.fetchCount(FetchDescriptor<Parcel>())
      && sum.value == all.reduce(0, +)
    let errors = [lanes.error, loads.error, parcels.error, sum.error].compactMap(\.self)
    tell(isSame && errors.isEmpty ? "same" : "differs \(errors)")
  }
}

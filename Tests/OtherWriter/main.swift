import Foundation
import Quire
import Transfers

// A program that uses Quire, as a process of its own: `OtherWriter FILE` runs the statements of standard input, those from
// BEGIN to COMMIT as one commit, and prints what a line asks it to. `insert` saves a new `Ticket` and prints its key;
// `OtherWriter FILE read` only reads the file: it prints the tickets' texts, and again after each line of standard input.
// `delete KEY` deletes one. `transfer COUNT WAY` moves amounts between accounts: see Tests/Transfers.
// `OtherWriter FILE busy` writes without a pause until it is killed, for 50 ms each time.
// `work` and `follow` are in Work.swift, `fork` is in Fork.swift.

@Model final class Ticket {
  var text = ""
  init() {}
}

let file = CommandLine.arguments[1]
switch CommandLine.arguments.dropFirst(2).first {
case "read":
  try readTickets()
  exit(0)
case "busy":
  try writeWithoutPause()
case "work":
  let words = CommandLine.arguments.dropFirst(3).map { $0 }
  try await runWork(file, Set(words[0].split(separator: ",")), Array(words.dropFirst()))
case "follow":
  try runFollow(file)
  exit(0)
case "fork":
  try runFork(file, CommandLine.arguments[3])
  exit(0)
default: break
}
let database = try Database(DatabaseConfiguration(.file(file), access: .readWrite))
var tickets: ModelContext?
var statements: [String] = []
var text = ""

func say(_ line: some CustomStringConvertible) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

@MainActor func context() throws -> ModelContext {
  let context = try tickets ?? ModelContext(ModelContainer(for: Ticket.self, url: URL(filePath: file)), isolation: nil)
  tickets = context
  return context
}

@MainActor func readTickets() throws {
  let store = try ModelContainer(
    for: Ticket.self, configurations: ModelConfiguration(url: URL(filePath: file), allowsSave: false))
  let context = ModelContext(store, isolation: nil)
  let all = try context.live(Ticket.self)
  repeat {
    try context.refresh()
    say(all.map(\.text).joined(separator: " "))
  } while readLine() != nil
  try store.close()
}

@MainActor func writeWithoutPause() throws -> Never {
  let store = try ModelContainer(for: Ticket.self, url: URL(filePath: file))
  while true {
    try store.writeSQL { transaction in
      try transaction.execute("INSERT INTO ticket (text) VALUES ('busy')")
      usleep(50_000)
    }
  }
}

while let line = readLine() {
  if line.hasPrefix("print ") {
    say(line.dropFirst(6))
    continue
  }
  if line == "insert" || line.hasPrefix("delete ") {
    let context = try context()
    if let key = Int64(line.dropFirst(7)) {
      context.model(Ticket.self, key: key).map(context.delete)
      try context.save()
    } else {
      let ticket = Ticket()
      context.insert(ticket)
      try context.save()
      say(ticket.persistentModelID.rowKey ?? 0)
    }
    continue
  }
  if line.hasPrefix("transfer ") {
    let words = line.split(separator: " ")
    let store = try ModelContainer(for: Account.self, url: URL(filePath: file))
    let way = TransferWay(rawValue: String(words[2])) ?? .transaction
    try transfer(Int(words[1]) ?? 0, seed: 3, by: way, in: ModelContext(store, isolation: nil))
    try store.close()
    continue
  }
  text += line + "\n"
  if !line.hasSuffix(";") { continue }
  switch line {
  case "BEGIN IMMEDIATE;": statements.removeAll()
  case "COMMIT;":
    let commit = statements
    try database.write(origin: .sql) { transaction in
      for statement in commit { try transaction.connection.execute(statement) }
    }
  default: statements.append(text)
  }
  text = ""
}
try database.close()

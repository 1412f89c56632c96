import Foundation
import Quire

/// `OtherWriter FILE fork MODE`: forks with the store open, and says what each use of it comes to in the child, and what the
/// parent has afterward.
///
/// - Parameter mode: `child`; `daemon`, whose parent has ended when the child uses the store; or `write`, where the parent
///   forks in the middle of one.
@MainActor func runFork(_ file: String, _ mode: String) throws {
  let url = URL(filePath: file)
  let store = try ModelContainer(for: Ticket.self, url: url)
  let memory = try ModelContainer(
    for: Ticket.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  let context = ModelContext(store, isolation: nil)
  context.insert(Ticket())
  try context.save()
  let tickets = try context.live(Ticket.self)
  var process: pid_t = 0
  if mode == "write" {
    attempt("write") {
      try store.writeSQL { transaction in
        try transaction.execute("INSERT INTO ticket (text) VALUES ('written')")
        process = forked()
      }
    }
  } else {
    process = forked()
  }
  if process == 0 {
    while mode == "daemon", getppid() != 1 { usleep(1000) }
    attempt("fetch") { _ = try context.fetch(FetchDescriptor<Ticket>()) }
    attempt("new context") { _ = try ModelContext(store, isolation: nil).fetch(FetchDescriptor<Ticket>()) }
    attempt("save") {
      context.insert(Ticket())
      try context.save()
    }
    attempt("SQL") { try store.execute("INSERT INTO ticket (text) VALUES ('child')") }
    attempt("open") { _ = try ModelContainer(for: Ticket.self, url: url) }
    attempt("open to read") {
      _ = try ModelContainer(for: Ticket.self, configurations: ModelConfiguration(url: url, allowsSave: false))
    }
    attempt("memory") { try memory.execute("INSERT INTO ticket (text) VALUES ('child')") }
    attempt("other file") {
      let other = try ModelContainer(for: Ticket.self, url: URL(filePath: file + "-other"))
      try other.execute("INSERT INTO ticket (text) VALUES ('child')")
      try other.close()
    }
    try store.close()
    try memory.close()
    say("end of child")
    _exit(0)
  }
  if mode == "daemon" { _exit(0) }
  waitpid(process, nil, 0)
  for store in [store, memory] { try store.execute("INSERT INTO ticket (text) VALUES ('parent')") }
  try context.refresh()
  say("parent has \(tickets.count) \(try memory.mainContext.fetchCount(FetchDescriptor<Ticket>()))")
  try store.close()
}

@MainActor private func attempt(_ name: String, _ body: () throws -> Void) {
  do {
    try body()
    say("\(name): done")
  } catch {
    say("\(name): \(error)")
  }
}

// Swift hides it, because a child that goes on has none of its parent's threads.
@_silgen_name("fork") private func forked() -> pid_t

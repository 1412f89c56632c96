import Catalog
import Foundation
import Quire

/// A library's catalog in the terminal, in which every piece of the screen is a reader of what it shows.
///
///     swift run CatalogExample                 the sample, in memory
///     swift run CatalogExample library.db      a catalog made by `quire import --create`
///     swift run CatalogExample --script < commands.txt
@main @MainActor struct Main {
  static func main() async {
    var arguments = Array(CommandLine.arguments.dropFirst())
    let isScript = arguments.first == "--script"
    if isScript { arguments.removeFirst() }
    do {
      let store = try open(arguments.first)
      if isScript {
        let commands = AnyIterator { readLine() }
        print(try await Script(store).run(commands).joined(separator: "\n"))
      } else {
        try await show(store)
      }
      try store.close()
    } catch {
      FileHandle.standardError.write(Data("error: \(error)\n".utf8))
      exit(1)
    }
  }

  /// - Parameter file: Nil is the sample that comes with the catalog, in memory.
  static func open(_ file: String?) throws -> ModelContainer {
    if let file { return try ModelContainer(for: Book.self, Author.self, Library.self, url: URL(filePath: file)) }
    let store = try ModelContainer(
      for: Book.self, Author.self, Library.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    var work = CatalogImport(into: store)
    if let books = SampleCatalog.books { try work.books(from: books) }
    if let libraries = SampleCatalog.libraries { try work.libraries(from: libraries) }
    try work.stock(500)
    return store
  }

  private static func show(_ store: ModelContainer) async throws {
    guard let terminal = Terminal() else { throw NoTerminal() }
    defer { terminal.giveBack() }
    let desk = try Desk(store)
    let views = Views(desk) { [send = terminal.send] in send.yield(.evaluated) }
    let screen = Screen(views, desk, isStyled: true)
    terminal.draw(screen.draw())
    for await event in terminal.events {
      if !desk.take(event) { return }
      await views.settle()
      // What was evaluated by a key's doing is on the screen already.
      if case .evaluated = event, !screen.isBehind { continue }
      terminal.draw(screen.draw())
    }
  }
}

struct NoTerminal: Error, CustomStringConvertible {
  var description: String { "this is for a terminal; without one, give --script and commands on standard input" }
}

extension Desk {
  /// Does what a key asks for.
  /// - Returns: false where it asks to quit.
  func take(_ event: Terminal.Event) -> Bool {
    if draft != nil { return type(event) }
    switch event {
    case .up, .character("k"): move(by: -1)
    case .down, .character("j"): move(by: 1)
    case .pageUp: move(by: -Desk.shown)
    case .pageDown: move(by: Desk.shown)
    case .enter, .character("e"): begin(.title)
    case .character("a"): begin(.author)
    case .character("s"): begin(.sql)
    case .character(" "): lend()
    case .character("d"): begin(.deletion)
    case .character("q"), .end: return false
    case .character, .escape, .erase, .resized, .evaluated: break
    }
    return true
  }

  private func type(_ event: Terminal.Event) -> Bool {
    switch event {
    case .evaluated, .resized: break
    case .character("y") where draft?.field == .deletion: finish()
    case .end: return false
    case _ where draft?.field == .deletion: draft = nil
    case .character(let character): draft?.text.append(character)
    case .erase: _ = draft?.text.popLast()
    case .enter: finish()
    case .escape: draft = nil
    case .up, .down, .pageUp, .pageDown: break
    }
    return true
  }
}

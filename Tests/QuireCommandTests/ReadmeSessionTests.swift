import Foundation
import Testing

/// Shell sessions of README.md and the documentation, run as they stand there: what follows `$ ` is typed, `> ` goes on with it, and all else
/// is what is said.
@Suite struct ReadmeSessionTests {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  let quire: Scratch

  init() throws { quire = try Scratch() }

  @Test func `the session of the page on migrating says what the page says`() throws {
    try expectSession("migrate", in: "Documentation/Migrating.md")
  }

  @Test(.enabled(if: hasShell, "the session uses the sqlite3 shell, which is not installed"))
  func `the session of the page on asking says what the page says`() throws {
    try FileManager.default.createSymbolicLink(
      at: quire.folder.appending(path: "Sources"), withDestinationURL: Self.root.appending(path: "Sources"))
    try expectSession("ask", in: "Documentation/Query.md")
  }

  @Test(arguments: ["import-new", "ask-records"])
  func `the sessions with files of records say what the page says`(name: String) throws {
    try FileManager.default.createSymbolicLink(
      at: quire.folder.appending(path: "Sources"), withDestinationURL: Self.root.appending(path: "Sources"))
    try expectSession(name, in: "Documentation/Query.md")
  }

  @Test(arguments: [("queries", ""), ("writes", "--write")])
  func `the queries and writes of the page on asking run on the catalog`(name: String, option: String) throws {
    let page = "Documentation/Query.md"
    try FileManager.default.createSymbolicLink(
      at: quire.folder.appending(path: "Sources"), withDestinationURL: Self.root.appending(path: "Sources"))
    let makesFile = try #require(block("ask", in: page).split(separator: "\n").first).dropFirst(2)
    try quire.write("script.txt", try block(name, in: page))
    let ran = try quire.shell("\(makesFile) && quire library.store \(option) < script.txt")
    #expect(ran.status == 0, "\(ran.error)")
  }

  static let hasShell = (try? Scratch().shell("command -v sqlite3"))?.status == 0

  @Test func `the lines under Install put a program where it runs by itself`() throws {
    let ran = try installing(
      """
      \(try block("install", in: "README.md"))
      cd / && "$HOME/.local/bin/quire" demo --file "$HOME/demo.db"
      """)
    #expect(ran.status == 0, "\(ran.error)")
    #expect(ran.output.contains("134 books by 125 authors"))
  }

  @Test func `an older program is replaced whole, by several installations at once, too`() throws {
    let ran = try installing(
      """
      Scripts/install "a b/bin"
      echo older > "a b/bin/quire"
      echo "no SQL" > "a b/bin/Quire_Catalog.resources/Migrations/20990101000000_gone.sql"
      export CDPATH=.:/tmp
      for n in 1 2 3; do { Scripts/install "a b/bin" || echo failed; } & done
      wait
      cd "a b" >/dev/null && ls -A bin bin/Quire_Catalog.resources
      ./bin/quire import library.db --create --books bin/Quire_Catalog.resources/Sample/books.csv
      """)
    #expect(ran.status == 0 && ran.error == "" && !ran.output.contains("failed"), "\(ran.error)")
    #expect(
      ran.output.contains("bin:\nQuire_Catalog.resources\nquire\n\nbin/Quire_Catalog.resources:\nMigrations\nSample\n"),
      "\(ran.output)")
  }

  @Test func `the line for PATH is right for any folder, and without a compiler no folder is made`() throws {
    let ran = try installing(
      #"""
      mkdir none && printf '#!/bin/sh\n' > none/swift && chmod +x none/swift
      PATH=$PWD/none:$PATH Scripts/install gone/bin 2>/dev/null || ls -d gone 2>/dev/null || echo nothing
      Scripts/install 'a $HOME `b` "c" \d' | sed -n 's/^    export /export /p' > line
      . ./line && command -v quire
      """#)
    #expect(ran.status == 0, "\(ran.error)")
    #expect(ran.output == "nothing\n\(quire.folder.path)/a $HOME `b` \"c\" \\d/quire\n")
  }

  @Test(.enabled(if: ImportTests.canMount, "needs root and mount, for a disk that fills up"))
  func `without room an installation leaves the older program, and nothing of its own`() throws {
    defer { _ = try? quire.shell("umount disk") }
    let ran = try installing(
      """
      mkdir disk && mount -t tmpfs -o size=1m none disk && mkdir disk/bin && echo older > disk/bin/quire
      Scripts/install disk/bin || true
      ls -A disk/bin && cat disk/bin/quire
      """)
    #expect(ran.error.contains("No space left on device") && ran.output == "quire\nolder\n", "\(ran.output)")
  }

  /// Runs a script in a folder that has the repository's `Scripts`.
  private func installing(_ script: String) throws -> Scratch.Ran {
    // A stand-in for the compiler, which says whether it was asked as it must be; the program is the one built already.
    try quire.write(
      "swift", "#!/bin/sh", #"case "$*" in --version) echo "Swift version 6.3";;"#,
      #"*"-c release --static-swift-stdlib --product quire "*) ;; *) exit 1;; esac"#)
    let prelude = """
      set -e
      mkdir -p bin .build/static && mv swift bin && chmod +x bin/swift
      ln -s \(Self.root.path)/Scripts Scripts
      ln -s \(Scratch.binary.deletingLastPathComponent().path) .build/static/release

      """
    let path = quire.path("bin") + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
    return try quire.shell(prelude + script, environment: ["HOME": quire.folder.path, "PATH": path])
  }

  @Test func `the manifest of the quick start is read by SwiftPM`() throws {
    let folder = quire.folder
    try FileManager.default.createDirectory(
      at: folder.appending(path: "Lending/Sources/Lending"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(at: folder.appending(path: "Quire"), withDestinationURL: Self.root)
    try quire.write("Lending/Package.swift", try block("package", in: "Documentation/QuickStart.md"))
    try quire.write("Lending/Sources/Lending/main.swift", "")
    let ran = try quire.shell("cd Lending && swift package --disable-sandbox describe --type json")
    #expect(ran.status == 0, "\(ran.error)")
    #expect(ran.output.contains(#""product_dependencies""#) && ran.output.contains(#""Quire""#))
  }

  // MARK: Blocks

  /// The code under `<!-- run: NAME -->`, without its fences.
  private func block(_ name: String, in page: String) throws -> String {
    let text = try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let mark = try #require(lines.firstIndex(of: "<!-- run: \(name) -->"), "\(page) has no block \(name)")
    let end = try #require(lines[(mark + 2)...].firstIndex(of: "```"))
    return lines[(mark + 2)..<end].joined(separator: "\n")
  }

  private func expectSession(_ name: String, in page: String) throws {
    let session = try block(name, in: page)
    var script = "exec 2>&1\n"
    var isTyping = false
    for line in session.split(separator: "\n", omittingEmptySubsequences: false) {
      let typed = line.dropFirst(2)
      if line.hasPrefix("$ ") {
        // The prompt, and the status of the command before as it was.
        script += "_s=$?; cat <<'PROMPT'\n\(line)\nPROMPT\n(exit $_s)\n\(typed)\n"
        isTyping = true
      } else if isTyping, line.hasPrefix("> ") || line == ">" {
        script += "\(typed)\n"
      } else {
        isTyping = false
      }
    }
    let ran = try quire.shell(script)
    let said = session.split(separator: "\n", omittingEmptySubsequences: false).filter {
      !$0.hasPrefix("> ") && $0 != ">"
    }
    #expect(normalized(ran.output) == normalized(said.map { $0 + "\n" }.joined()))
  }

  /// Without times, which are others at every run.
  private func normalized(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).map {
      String($0.replacing(/[ ]+[\d.]+ ms$/, with: " N ms"))
    }
  }
}

import Foundation
import TestSupport
import Testing

@testable import QuireShell

/// What is said of inputs that are wrong, as a person reads it: `Errors.txt` has each with its answer.
///
/// With `QUIRE_UPDATE_ERRORS` set the file is written anew, to be read over and kept.
@Suite(.fewAtOnce) struct ErrorTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Errors.txt")

  @Test func `each wrong input is answered as it is kept`() async throws {
    let library = try Library()
    let session = try library.session()
    let kept = try String(contentsOf: Self.file, encoding: .utf8)
    var made = ""
    for block in kept.components(separatedBy: "\n› ").map({ $0.hasPrefix("› ") ? String($0.dropFirst(2)) : $0 }) {
      let input = block.components(separatedBy: "\n")[0]
      made += "› \(input)\n\(await session.failure(input))\n\n"
    }
    if ProcessInfo.processInfo.environment["QUIRE_UPDATE_ERRORS"] != nil {
      try Data(made.utf8).write(to: Self.file)
    }
    let (old, new) = (kept.split(separator: "\n"), made.split(separator: "\n"))
    for (was, now) in zip(old, new) where was != now { Issue.record("\(was)\n\(now)") }
    #expect(old.count == new.count)
    #expect(made.components(separatedBy: "\n› ").count >= 100)
    #expect(!made.contains("no failure") && !made.contains("another error"))
  }

  @Test func `a name that only a view or trigger of the file has is explained by that one`() async throws {
    let library = try Library(
      """
      CREATE TABLE "old one" (a);
      CREATE VIEW v AS SELECT a FROM "old one";
      CREATE VIEW w AS SELECT * FROM v;
      CREATE TABLE t (id INTEGER PRIMARY KEY, x);
      CREATE TABLE log (x);
      CREATE TRIGGER added AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.x); END;
      DROP TABLE "old one"; DROP TABLE log;
      """)
    let session = try library.writing()
    for query in ["select * from v;", "select * from w;", "select 1 from t where x in (select a from v);"] {
      let failure = await session.failure(query)
      #expect(failure.contains("the view v of the file uses it: it has gone, or its name was changed"), "\(failure)")
    }
    #expect(await session.failure("insert into t values (1, 2);").contains("the trigger added of the file uses it"))
    #expect(await !session.failure("select * from nothing_at_all;").contains("of the file"))
  }
}

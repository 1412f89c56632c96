import Foundation
import TestSupport
import Testing

/// `quire query` of a file of records, in place of a database.
@Suite struct RecordsFileTests {
  let quire: Scratch

  init() throws { quire = try Scratch() }

  /// In a folder of temporary files that is empty before and has to be empty afterward.
  private func ask(_ file: String, _ words: String...) throws -> Scratch.Ran {
    let copies = quire.folder.appending(path: "copies")
    try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
    let ran = try quire.shell(
      "exec quire query "
        + ([file] + words).map { "'" + $0.replacing("'", with: #"'\''"#) + "'" }.joined(separator: " "),
      environment: ["TMPDIR": copies.path])
    #expect(try FileManager.default.contentsOfDirectory(atPath: copies.path) == [], "\(ran)")
    return ran
  }

  @Test func `it is asked by its model and in SQL, and is as it was`() throws {
    try quire.write("my books.csv", "title,year,price", "Solaris,1961,12.50", "Eden,1959,", "\"Fiasco, 1\",1986,9")
    try quire.write("b.tsv", "a\tb", "x\t1", "y\t2")
    try quire.write("c.jsonl", #"{"a": 1, "b": "x"}"#, #"{"c": [1, 2], "a": 2.5}"#)
    try quire.write("d.json", #"[{"a": true, "b": "01"}, {"a": false}]"#)
    try quire.write("i.jsonl", #"{"x": "Infinity"}"#, #"{"x": 1.5}"#)
    let before = try quire.files.map { try quire.bytes($0) }
    for (file, query, answer) in [
      ("my books.csv", "MyBook where price > 9.5 select title, price", "title,price\nSolaris,12.5\n"),
      ("my books.csv", #"SELECT max(year) AS y, sum(price) AS p FROM "my books""#, "y,p\n1986,21.5\n"),
      ("my books.csv", "count MyBook where price is null", "count\n1\n"),
      ("b.tsv", "B where b = 2", "a,b\ny,2\n"),
      ("c.jsonl", "select a, b, c ->> 1 as d from c", "a,b,d\n1.0,x,\n2.5,,2\n"),
      ("d.json", "select sum(a) as a, min(b) as b from d", "a,b\n1,01\n"),
      ("./b.tsv", "select a from b order by b desc limit 1; select count(*) as n from b", "a\ny\nn\n2\n"),
      ("i.jsonl", "select x from i where x > 2", "x\nInf\n"),
    ] {
      let ran = try ask(file, query)
      #expect(ran.status == 0 && ran.output == answer && ran.error.isEmpty, "\(file) \(query): \(ran)")
    }
    let schema = try ask("my books.csv", ".schema")
    #expect(
      schema.output.contains(#"CREATE TABLE "my books" ("title" TEXT, "year" INTEGER, "price" REAL);"#), "\(schema)")
    let files = try quire.files.filter { $0 != "copies" }
    #expect(try files.map { try quire.bytes($0) } == before)
    #expect(try ask("b.tsv", "B", "--json").output == "[{\"a\":\"x\",\"b\":1},\n{\"a\":\"y\",\"b\":2}]\n")
    #expect(try ask("b.tsv", "B where b = 3", "--exit-code").status == 3)
    let nowhere = try quire.shell("quire query b.tsv B", environment: ["TMPDIR": "/no/such"])
    #expect(
      nowhere.error == """
        error: the records of b.tsv cannot be copied into /no/such: No such file or directory
        TMPDIR names the folder of temporary files

        """)
  }

  @Test(.enabled(if: SmallDisk.canBeMade)) func `a full disk of temporary files is named, and how to name another`()
    throws
  {
    let disk = try SmallDisk(in: TestSupport.Scratch())
    try quire.write("k.csv", "a,b", (0..<200_000).map { "\($0),xxxxxxxx" }.joined(separator: "\n"))
    for command in ["quire query k.csv 'count K'", "echo 'count K' | quire k.csv"] {
      let ran = try quire.shell(command, environment: ["TMPDIR": disk.folder.path])
      #expect(
        ran.status == 1 && ran.output.isEmpty
          && ran.error == """
            error: the records of k.csv cannot be copied into \(disk.folder.path): No space left on device; make room and repeat
            TMPDIR names the folder of temporary files

            """,
        "\(ran)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: disk.folder.path) == [])
    }
  }

  @Test func `nothing is left of the copy when the process is killed while it reads`() throws {
    try quire.write("k.csv", "a,b", (0..<200_000).map { "\($0),x" }.joined(separator: "\n"))
    let ran = try quire.shell(
      """
      mkdir copies; TMPDIR=$PWD/copies quire query k.csv 'count K' > answer & quire=$!
      # Until it has read a piece of the file.
      while kill -0 $quire && [ "${place:-0}" -lt 100000 ]; do
        for file in /proc/$quire/fd/*; do
          case $(readlink $file) in */k.csv) place=$(sed -n 's/^pos:[^0-9]*//p' /proc/$quire/fdinfo/${file##*/}) ;; esac
        done
        sleep 0.01
      done
      kill -KILL $quire; wait $quire; cat answer; ls copies
      """)
    #expect(ran.output.isEmpty, "\(ran)")
  }

  @Test func `a column has numbers only if each value comes out as the number it is`() throws {
    let columns: [(name: String, values: [String], type: String)] = [
      ("code", ["007", "1"], "TEXT"), ("wide", ["9007199254740993", "-1"], "INTEGER"),
      ("mixed", ["9007199254740993", "0.5"], "TEXT"), ("beyond", ["9223372036854775808", "1"], "TEXT"),
      ("power", ["1e3", "2"], "TEXT"), ("plus", ["+1", "2"], "TEXT"), ("part", ["1", "2.25"], "REAL"),
      ("none", ["", ""], "TEXT"), ("late", ["1", "x"], "TEXT"), ("digits", ["0.1234567890123456789", "1"], "TEXT"),
    ]
    // The last value comes after what a proposal for a database reads.
    let rows =
      [columns.map(\.name)] + (0..<1_500).map { _ in columns.map { $0.values[0] } } + [columns.map { $0.values[1] }]
    try quire.write("n.csv", rows.map { $0.joined(separator: ",") }.joined(separator: "\n"))
    let schema = try ask("n.csv", ".schema").output
    for column in columns { #expect(schema.contains("\"\(column.name)\" \(column.type)"), "\(column.name): \(schema)") }
    let shown = try ask("n.csv", "select * from n", "--csv")
    #expect(shown.output.hasSuffix("\n" + #""1",-1,"0.5","1","2","2",2.25,,x,"1""# + "\n"), "\(shown.error)")
    #expect(try ask("n.csv", "select count(*) as n from n").output == "n\n1501\n")
  }

  @Test func `in the shell it is asked again and again, and neither written to nor followed`() throws {
    try quire.write("b.csv", "a,b", "1,x", "2,y")
    let queries = ["B where a = 2", "select sum(a) as s from b;"]
    for (last, reason) in [
      ("count B", ""), (".write", "refused: the records of b.csv are read, and not written to: nothing was run\n"),
      ("live B", "error: b.csv cannot be followed: that needs a database\n"),
      ("insert B { a: 3 }", "refused: the records of b.csv are read"),
    ] {
      try quire.write("script", queries.joined(separator: "\n"), last)
      let ran = try quire.shell("quire b.csv < script")
      #expect((ran.status == 0) == reason.isEmpty && ran.error.hasPrefix(reason), "\(last): \(ran)")
      #expect(ran.output.hasPrefix("a,b\n2,y\ns\n3\n"), "\(last): \(ran)")
    }
    #expect(try quire.files == ["b.csv", "script"])
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>) func `texts of any kind come out as they are in the file`(seed: UInt64)
    throws
  {
    var random = Random(seed: seed)
    let pieces = [
      "a", "Ä", ",", ";", "\"\"", "\n", " ", "'", "1", "0", ".", "-", "e", "x'00'", "\t", "\u{1F600}", "NULL",
    ]
    let texts = (0..<200).map { _ in (0..<random.below(6)).map { _ in random.pick(pieces) }.joined() }
    try quire.write("t.csv", "id,t,u", texts.enumerated().map { "\($0),\"\($1)\",x" }.joined(separator: "\n"))
    let ran = try ask("t.csv", "select t from t order by id", "--json")
    let objects = try JSONSerialization.jsonObject(with: Data(ran.output.utf8)) as? [[String: Any]]
    #expect(objects?.map { $0["t"] as? String } == texts.map { $0.replacing("\"\"", with: "\"") })
  }

  @Test func `what separates the fields is found, and what cannot be a table is refused`() throws {
    try quire.write("s.csv", "a;b", "1,5;x", "2,5;y")
    #expect(try ask("s.csv", "S where b = 'y'").output == "a,b\n\"2,5\",y\n")
    for sign in [";", ",", "\t", "|"] {
      try quire.write("excel.csv", "sep=\(sign)", "a\(sign)b", "1\(sign)x")
      #expect(try ask("excel.csv", "Excel").output == "a,b\n1,x\n")
    }
    try quire.write("sqlite_x.csv", "a", "1")
    #expect(try ask("sqlite_x.csv", "select a from records").output == "a\n1\n")
    for (text, reason) in [
      ("", "the file is empty"), ("a,b\n1\n", "line 2 of w.csv: 1 field"), ("a,b\n1,\"2\n", "line 2 of w.csv"),
    ] {
      try Data(text.utf8).write(to: quire.folder.appending(path: "w.csv"))
      let ran = try ask("w.csv", "W")
      #expect(ran.status != 0 && ran.error.contains(reason) && ran.output.isEmpty, "\(text): \(ran)")
      #expect(!ran.error.contains("added"), "\(text): \(ran)")
    }
    try Data([0x61, 10, 0xE4, 10]).write(to: quire.folder.appending(path: "l.csv"))
    #expect(
      try ask("l.csv", "L").error.contains(
        "--encoding windows-1252 of .import, into a database, reads files of Windows and of Latin-1"))
    try quire.write("n.csv", "a,,A", "1,2,3")
    #expect(try ask("n.csv", "N").output == "a,column2,A_2\n1,2,3\n")
    try Data("[]".utf8).write(to: quire.folder.appending(path: "e.json"))
    #expect(try ask("e.json", "E").error.contains("it has no records, and no names"))
    let written = try ask("s.csv", "insert into s values (1, 2)")
    #expect(written.status == 5, "\(written)")
    let refused = try ask("s.csv", "insert into s values (1, 2)", "--write")
    #expect(refused.status == 2 && refused.error.contains("--write goes with a database"), "\(refused)")
    #expect(try ask("nosuch.csv", "S").error.contains("no database at nosuch.csv"))
  }

  @Test func `a database that is not there is made for them only where that is asked for`() throws {
    try quire.write("b.csv", "a,b", "1,x", "2,y")
    for (words, status, error) in [
      ("query new.db '.import b.csv b --create' --write", 2, "error: no database at new.db"),
      ("query new.db '.import b.csv b --create' --create", 2, "error: --create goes with --write"),
      ("new.db --create < b.csv", 2, "error: --create goes with --write"),
      ("query b.csv 'B' --write --create", 2, "error: b.csv is read, and not written to"),
      ("query none/new.db '.import b.csv b --create' --write --create", 1, "error: none/new.db cannot be created"),
    ] {
      let ran = try quire.shell("quire \(words)")
      #expect(ran.status == status && ran.error.hasPrefix(error), "\(words): \(ran)")
      #expect(try !quire.files.contains("new.db"))
    }
    for start in ["", "touch new.db && "] {
      let made = try quire.shell("\(start)quire query new.db '.import b.csv b --create --key a' --write --create")
      #expect(made.status == 0 && made.error.hasPrefix("2 rows added to B"), "\(made)")
      let again = try quire.shell(
        "echo '.import b.csv c --create' | quire new.db --write --create; quire query new.db 'C'")
      #expect(again.status == 0 && again.output == "a,b\n1,x\n2,y\n", "\(again)")
      _ = try quire.shell("rm new.db*")
    }
  }
}

import Catalog
import Testing

private let goodbooksHeader = "book_id,isbn,authors,original_publication_year,title,language_code,average_rating\n"

@Suite struct RecordTests {
  let fixture: CSVFixture
  init() throws { fixture = try CSVFixture() }

  private func goodbooks(_ lines: String) throws -> (records: [BookRecord], bad: [BadRecord]) {
    var reader = try RecordReader.books(in: try fixture.write(goodbooksHeader + lines))
    #expect(reader.format == "goodbooks-10k")
    return try reader.all()
  }

  @Test func `a book is tidied: trimmed title, names collapsed and once, year and ISBN restored`() throws {
    let read = try goodbooks(
      "1,43902348,\"Terry  Pratchett, Neil Gaiman , Terry Pratchett\",-750.0,\" A, B \",eng,4.25\n")
    #expect(read.bad.isEmpty)
    #expect(
      read.records == [
        BookRecord(
          title: "A, B", year: -750, rating: 4.25, isbn: "0043902348", language: "eng",
          authors: ["Terry Pratchett", "Neil Gaiman"])
      ])
  }

  @Test func `what a book lacks is nil, and its rating zero`() throws {
    let read = try goodbooks("1,,A,,T,,\n")
    #expect(read.records == [BookRecord(title: "T", authors: ["A"])])
  }

  @Test(arguments: [
    ("1,,A,2008.5,T,,", "original_publication_year ‘2008.5’ is not a whole number"),
    ("1,,A,soon,T,,", "original_publication_year ‘soon’ is not a whole number"),
    ("1,,A,99999,T,,", "original_publication_year ‘99999’ is not a year"),
    ("1,,A,99999999999999999999,T,,", "original_publication_year ‘99999999999999999999’ is not a whole number"),
    ("1,,A,2008.0,\" \",,", "title is empty"),
    ("1,,A,2008.0,T,,nan", "average_rating ‘nan’ is not a rating from 0 to 5"),
    ("1,,A,2008.0,T,,-1", "average_rating ‘-1’ is not a rating from 0 to 5"),
    ("1,12345,A,2008.0,T,,4", "isbn ‘12345’ is not an ISBN"),
    ("1,1234567x9,A,2008.0,T,,4", "isbn ‘1234567x9’ is not an ISBN"),
    ("1,,A,2008.0,T\0,,4", "title contains a NUL byte"),
    ("1,,A,2008.0,T", "5 fields where the header has 7"),
    ("1,,A,2008.0,T,,4,5", "8 fields where the header has 7"),
    ("", "a blank line"),
  ])
  func `a bad record is given with line and reason, and reading goes on`(line: String, reason: String) throws {
    let read = try goodbooks("0,,A,,\"two\nlines\",,\n" + line + "\n2,,B,,after,,\n")
    #expect(read.records.map(\.title) == ["two\nlines", "after"])
    #expect(read.bad.map(\.reason) == [reason])
    #expect(read.bad.map(\.line) == [4])
  }

  @Test func `text that is not UTF-8 is a bad record where it is needed, with its own line`() throws {
    let file = try fixture.write(bytes: Array((goodbooksHeader + "1,,\"A\nB\",,T").utf8) + [0xE9] + Array(",,\n".utf8))
    var reader = try RecordReader.books(in: file)
    #expect(try reader.all().bad == [BadRecord(file: file, line: 3, reason: "title is not UTF-8")])
    let unneeded = try fixture.write(bytes: Array(goodbooksHeader.utf8) + [0xE9] + Array(",,A,,T,,\n".utf8))
    reader = try RecordReader.books(in: unneeded)
    #expect(try reader.all().records.count == 1)
  }

  @Test func `a wrong header names what is missing and what is known`() throws {
    let file = try fixture.write("book_id,isbn,authors,title,language_code,average_rating\n1,,A,T,,\n")
    let error = #expect(throws: CSVError.self) { try RecordReader.books(in: file) }
    guard case .missingColumns(["original_publication_year"], file, _, let known) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(known.count == 3)
    let libraries = #expect(throws: CSVError.self) { try RecordReader.libraries(in: file) }
    #expect(libraries?.description.contains("wrong header: missing ") == true)
  }

  @Test func `a needed column that is there twice is refused, another is not`() throws {
    let twice = try fixture.write("title,authors,year,language,title\nT,A,1,en,U\n")
    #expect(throws: CSVError.repeatedColumn("title", file: twice)) { try RecordReader.books(in: twice) }
    var other = try RecordReader.books(in: try fixture.write("title,authors,year,language,x,x\nT,A,1,en,U,V\n"))
    #expect(try other.all().records.count == 1)
  }

  @Test func `shifted records of Toulouse are bad, and a book of several years is one`() throws {
    let file = try fixture.write(
      """
      \u{FEFF}ANNEE;Nbre de prêts;TITRE;AUTEUR;Editeur;Indice;BIB;COTE;Cat 1;Cat 2\r
      2019;698;Okapi;-;-;Paris;P1468;CABANIS;P OKAP;E\r
      2019;319;Kalandre;Sobral, Patrick;Paris;BD;CABANIS;BDT;E;BDE\r
      2020;200;Kalandre;Sobral, Patrick;Paris;BD;CABANIS;BDT;E;BDE\r

      """)
    var loans = try RecordReader.loans(in: file)
    let all = try loans.all()
    #expect(all.records.map(\.loans) == [319, 200])
    #expect(all.records.first?.book.authors == ["Sobral, Patrick"])
    #expect(all.bad == [BadRecord(file: file, line: 2, reason: "its columns are shifted: no category in ‘Cat 1’")])
    var books = try RecordReader.books(in: file)
    #expect(try books.all().records.count == 1)
    #expect(books.repeats == 1)
  }

  @Test func `English libraries take their city from the authorities beside them`() throws {
    let file = try fixture.write(
      "name,id,authority_id,statutory2016\n Barking ,1,1,t\nNowhere,2,9,t\n", as: "libraries.csv")
    #expect(throws: CSVError.missing(file: fixture.path + "/authorities.csv")) { try RecordReader.libraries(in: file) }
    _ = try fixture.write("authority_id,name\n1,Barking and Dagenham\n", as: "authorities.csv")
    var reader = try RecordReader.libraries(in: file)
    let all = try reader.all()
    #expect(all.records == [LibraryRecord(name: "Barking", city: "Barking and Dagenham", region: "England")])
    #expect(all.bad.map(\.reason) == ["there is no authority 9"])
  }
}

@Suite struct RecordHoldingsTests {
  @Test(arguments: [(0, 0, 0), (10, 3, 0), (10, 3, 15), (10, 3, 16), (10, 3, 30), (1, 1, 1), (1000, 900, 5000)])
  func `pairs are distinct, in range and the same every time`(books: Int, libraries: Int, count: Int) throws {
    let pairs = try Holdings.pairs(books: books, libraries: libraries, count: count)
    #expect(Set(pairs).count == count && pairs.count == count)
    #expect(pairs.allSatisfy { (0..<books).contains($0.book) && (0..<libraries).contains($0.library) })
    #expect(try pairs == Holdings.pairs(books: books, libraries: libraries, count: count))
  }

  @Test func `the rule is the documented one`() throws {
    // Computed by an independent implementation of the documented rule.
    let pairs = try Holdings.pairs(books: 10_000, libraries: 9_261, count: 5)
    #expect(pairs.map { [$0.book, $0.library] } == expectedPairs)
  }

  @Test(arguments: [(2, 2, 5), (0, 5, 1), (5, 5, -1), (Int.max, 2, 1)])
  func `more than there are pairs is an error`(books: Int, libraries: Int, count: Int) {
    #expect(throws: StockError.self) { try Holdings.pairs(books: books, libraries: libraries, count: count) }
  }
}

private let expectedPairs = [[999, 486], [1933, 1651], [91, 4890], [754, 8230], [4873, 5329]]

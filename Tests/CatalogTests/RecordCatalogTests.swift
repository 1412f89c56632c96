import Catalog
import Testing

@Suite(.disabled(if: RealData.isMissing, "the real catalogs are not here"))
struct RecordCatalogTests {
  @Test func `goodbooks-10k has the counts known of it`() throws {
    let folder = try #require(RealData.folder)
    var reader = try RecordReader.books(in: folder + "/goodbooks-10k/books.csv")
    let (books, bad) = try reader.all()
    #expect(bad.isEmpty)
    #expect(books.count == 10_000)
    #expect(Set(books.flatMap(\.authors)).count == 5_833)
    #expect(books.map { $0.authors.count - 1 }.reduce(0, +) == 3_209)
    #expect(books.count { $0.year == nil } == 21)
    #expect(books.count { ($0.year ?? 0) < 0 } == 31)
    #expect(books.count { $0.authors.first == "James Patterson" } == 98)
    #expect(books.count { $0.isbn?.count == 10 } == 9_300)
    #expect(books.count { $0.language == nil } == 1_084)
    #expect(reader.bytesRead == reader.byteCount)
  }

  @Test func `the Public Libraries Survey has the counts known of it`() throws {
    let folder = try #require(RealData.folder)
    var reader = try RecordReader.libraries(in: folder + "/pls/pls_fy2018_libraries.csv")
    let (libraries, bad) = try reader.all()
    #expect(bad.isEmpty)
    #expect(libraries.count == 9_261)
    #expect(Set(libraries).count == 9_261)
    #expect(libraries.count { $0.region == "NY" } == 756)
    #expect(Set(libraries.map(\.region)).count == 55)
  }

  @Test func `England's libraries have the counts known of them`() throws {
    let folder = try #require(RealData.folder)
    var reader = try RecordReader.libraries(in: folder + "/england-libraries/libraries.csv")
    let (libraries, bad) = try reader.all()
    #expect(bad.isEmpty)
    #expect(libraries.count == 3_238)
    #expect(Set(libraries.map(\.city)).count == 151)
  }

  @Test func `Toulouse has the counts known of it`() throws {
    let folder = try #require(RealData.folder)
    var reader = try RecordReader.loans(in: folder + "/toulouse/top500_imprimes.csv")
    let (loans, bad) = try reader.all()
    #expect(loans.count == 5_006)
    #expect(bad.count == 1_010)
    #expect(Set(loans.map(\.library)).count == 9)
    #expect(loans.count { $0.library == "CABANIS" } == 4_851)
    var books = try RecordReader.books(in: folder + "/toulouse/top500_imprimes.csv")
    let distinct = try books.all().records.count
    #expect(distinct + books.repeats == 5_006)
  }
}

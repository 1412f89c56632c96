import Catalog
import Testing

@Suite struct SampleTests {
  @Test func `the sample catalog is whole, and has what the demo shows`() throws {
    var reader = try RecordReader.books(in: try #require(SampleCatalog.books))
    let (books, bad) = try reader.all()
    #expect(bad.isEmpty && books.count > 100)
    #expect(Set(books.map(\.title)).count == books.count)
    #expect(books.contains { $0.authors.count > 1 })
    #expect(books.contains { ($0.year ?? 0) < 0 })
    #expect(books.allSatisfy { $0.language != nil && $0.rating == 0 })
    var libraryReader = try RecordReader.libraries(in: try #require(SampleCatalog.libraries))
    let (libraries, badLibraries) = try libraryReader.all()
    #expect(badLibraries.isEmpty && libraries.count > 40)
    #expect(Set(libraries).count == libraries.count)
  }
}

/// A kind of file we know, recognized by the columns of its header.
struct ImportFormat<Record: Sendable>: Sendable {
  let name: String
  /// Without one of these a file is of another format.
  let columns: [String]
  var optionalColumns: [String] = []
  /// Makes the decoder for one file's records; called once for each file, since some decoders read other files, or
  /// remember earlier records. The decoder returns nil for a record that repeats an earlier one.
  let decoder: @Sendable (_ file: String) throws(CSVError) -> (Fields) throws(BadRecord) -> Record?

  /// The header, as messages show it.
  var description: String { "\(columns.joined(separator: ", ")) (\(name))" }
}

extension ImportFormat where Record == BookRecord {
  static let known = [goodbooks, sampleBooks, toulouseBooks]

  /// `books.csv` of goodbooks-10k: years are written `2008.0`, ISBNs without their leading zeros.
  static let goodbooks = ImportFormat(
    name: "goodbooks-10k",
    columns: ["authors", "original_publication_year", "title", "isbn", "language_code", "average_rating"]
  ) { _ in
    { (fields: Fields) throws(BadRecord) -> BookRecord? in
      BookRecord(
        title: try fields.required("title"), year: try fields.year("original_publication_year"),
        rating: try fields.rating("average_rating"), isbn: try fields.isbn("isbn"),
        language: try fields.text("language_code").nonEmpty, authors: try fields.names("authors"))
    }
  }

  /// The sample catalog's own format: `title,authors,year,language`, and `isbn` and `rating` if they are known. Several
  /// authors of one book are in quotes, separated by commas.
  static let sampleBooks = ImportFormat(
    name: "Quire", columns: ["title", "authors", "year", "language"], optionalColumns: ["isbn", "rating"]
  ) { _ in
    { (fields: Fields) throws(BadRecord) -> BookRecord? in
      BookRecord(
        title: try fields.required("title"), year: try fields.year("year"), rating: try fields.rating("rating"),
        isbn: try fields.isbn("isbn"), language: try fields.text("language").nonEmpty,
        authors: try fields.names("authors"))
    }
  }

  /// The books of Toulouse's most borrowed, each once, however many years and libraries list it.
  static let toulouseBooks = ImportFormat(name: "Toulouse", columns: ImportFormat<LoanRecord>.toulouse.columns) {
    (file) throws(CSVError) in
    let loans = try ImportFormat<LoanRecord>.toulouse.decoder(file)
    var seen: Set<BookRecord> = []
    return { (fields: Fields) throws(BadRecord) -> BookRecord? in
      guard let book = try loans(fields)?.book else { return nil }
      return seen.insert(book).inserted ? book : nil
    }
  }
}

extension ImportFormat where Record == LibraryRecord {
  static let known = [publicLibrariesSurvey, england, sampleLibraries]

  /// The Public Libraries Survey of the IMLS: one row for one library system.
  static let publicLibrariesSurvey = ImportFormat(
    name: "Public Libraries Survey", columns: ["LIBNAME", "CITY", "STABR", "FSCSKEY"]
  ) { _ in
    { (fields: Fields) throws(BadRecord) -> LibraryRecord? in
      LibraryRecord(
        name: try fields.required("LIBNAME").collapsed, city: try fields.text("CITY").collapsed,
        region: try fields.text("STABR"))
    }
  }

  /// `libraries.csv` of the English libraries; the city is the authority's name, from `authorities.csv` beside it.
  /// Closed libraries are in the list too, and are taken.
  static let england = ImportFormat(
    name: "England's public libraries", columns: ["name", "id", "authority_id", "statutory2016"]
  ) { (file) throws(CSVError) in
    let authorities = try authorityNames(beside: file)
    return { (fields: Fields) throws(BadRecord) -> LibraryRecord? in
      let authority = try fields.required("authority_id")
      guard let city = authorities[authority] else { throw fields.bad("there is no authority \(authority)") }
      return LibraryRecord(name: try fields.required("name").collapsed, city: city, region: "England")
    }
  }

  /// The sample catalog's own.
  static let sampleLibraries = ImportFormat(name: "Quire", columns: ["name", "city", "region"]) { _ in
    { (fields: Fields) throws(BadRecord) -> LibraryRecord? in
      LibraryRecord(
        name: try fields.required("name").collapsed, city: try fields.text("city").collapsed,
        region: try fields.text("region").collapsed)
    }
  }

  private static func authorityNames(beside file: String) throws(CSVError) -> [String: String] {
    let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
    var reader = try CSVReader(file: folder + "authorities.csv")
    guard let id = reader.header.firstIndex(of: "authority_id"), let name = reader.header.firstIndex(of: "name") else {
      throw .missingColumns(["authority_id", "name"], file: reader.file, found: reader.header, known: [])
    }
    var names: [String: String] = [:]
    while let record = try reader.next() {
      guard record.count > max(id, name), let key = record.text(id), let text = record.text(name) else { continue }
      names[key] = text.collapsed
    }
    return names
  }
}

extension ImportFormat where Record == LoanRecord {
  static let known = [toulouse]

  /// Toulouse's 500 most borrowed a year. A sixth of its records is shifted by an extra `-`, so that columns contain
  /// each other's values: intact records are those whose first category is one of the four. `-` means missing, and an
  /// author is one text, `Last, First`.
  static let toulouse = ImportFormat(
    name: "Toulouse", columns: ["ANNEE", "Nbre de prêts", "TITRE", "AUTEUR", "BIB", "Cat 1"]
  ) { _ in
    { (fields: Fields) throws(BadRecord) -> LoanRecord? in
      guard ["A", "E", "BB", "TP"].contains(try fields.text("Cat 1")) else {
        throw fields.bad("its columns are shifted: no category in ‘Cat 1’")
      }
      guard let year = try fields.year("ANNEE"), let loans = try fields.integer("Nbre de prêts") else {
        throw fields.bad("no year, or no number of loans")
      }
      let author = try fields.text("AUTEUR").collapsed
      return LoanRecord(
        book: BookRecord(title: try fields.required("TITRE"), authors: author == "-" || author.isEmpty ? [] : [author]),
        library: try fields.required("BIB"), year: year, loans: loans)
    }
  }
}

extension String {
  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}

/// Reads a file of a known format: one record after the other, or its error.
///
///     var books = try RecordReader.books(in: "books.csv")
///     while let next = try books.next() {
///       switch next {
///       case .success(let book): add(book)
///       case .failure(let bad): report(bad)      // file, line, reason; reading goes on
///       }
///     }
///
/// Nothing is dropped silently: every record of the file is returned, returned as an error, or counted in ``repeats``.
public struct RecordReader<Record: Sendable> {
  /// The name of the format, recognized by the header.
  public let format: String
  /// Records that repeat an earlier one, in formats that list a thing several times.
  public private(set) var repeats = 0
  private var reader: CSVReader
  private let columns: [String: Int]
  private let decode: (Fields) throws(BadRecord) -> Record?

  /// Size of the file, if known, and how much of it has been read: for showing progress.
  public var byteCount: Int? { reader.byteCount }
  public var bytesRead: Int { reader.bytesRead }

  /// - Throws: ``CSVError`` for a file that cannot be read, and for a header no format knows; it names the columns the
  ///   nearest format lacks.
  init(file: String, formats: [ImportFormat<Record>]) throws(CSVError) {
    let reader = try CSVReader(file: file)
    func missing(_ format: ImportFormat<Record>) -> [String] {
      format.columns.filter { !reader.header.contains($0) }
    }
    guard let format = formats.first(where: { missing($0).isEmpty }) else {
      // The nearest has the greatest part of its columns there.
      let nearest = formats.map(missing).enumerated().min {
        Double($0.element.count) / Double(formats[$0.offset].columns.count)
          < Double($1.element.count) / Double(formats[$1.offset].columns.count)
      }
      throw .missingColumns(
        nearest?.element ?? [], file: file, found: reader.header, known: formats.map(\.description))
    }
    var columns: [String: Int] = [:]
    for name in format.columns + format.optionalColumns {
      let places = reader.header.indices.filter { reader.header[$0] == name }
      if places.count > 1 { throw .repeatedColumn(name, file: file) }
      columns[name] = places.first
    }
    self.format = format.name
    self.columns = columns
    decode = try format.decoder(file)
    self.reader = reader
  }

  /// The next record, or why it cannot be taken; nil at the end of the file.
  public mutating func next() throws(CSVError) -> Result<Record, BadRecord>? {
    while let record = try reader.next() {
      let fields = Fields(record: record, file: reader.file, columns: columns)
      do throws(BadRecord) {
        guard record.count == reader.header.count else {
          throw fields.bad(
            record.isBlankLine
              ? "a blank line" : "\(record.count) fields where the header has \(reader.header.count)")
        }
        if let decoded = try decode(fields) { return .success(decoded) }
        repeats += 1
      } catch {
        return .failure(error)
      }
    }
    return nil
  }
}

extension RecordReader where Record == BookRecord {
  public static func books(in file: String) throws(CSVError) -> RecordReader {
    try RecordReader(file: file, formats: ImportFormat.known)
  }
}

extension RecordReader where Record == LibraryRecord {
  public static func libraries(in file: String) throws(CSVError) -> RecordReader {
    try RecordReader(file: file, formats: ImportFormat.known)
  }
}

extension RecordReader where Record == LoanRecord {
  public static func loans(in file: String) throws(CSVError) -> RecordReader {
    try RecordReader(file: file, formats: ImportFormat.known)
  }
}

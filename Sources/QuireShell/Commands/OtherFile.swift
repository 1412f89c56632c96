import Foundation

/// A kind of file that is given to `.import` by mistake, and what to do with it.
package enum OtherFile: CaseIterable {
  case gzip, zip, xz, zstd, bzip2, excel, database

  /// What such a file begins with.
  private var mark: [UInt8] {
    switch self {
    case .gzip: [0x1F, 0x8B]
    case .zip: [0x50, 0x4B, 3, 4]
    case .xz: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
    case .bzip2: Array("BZh".utf8)
    case .excel: [0xD0, 0xCF, 0x11, 0xE0]
    case .database: Array("SQLite format 3\0".utf8)
    }
  }

  private var extensions: [String] {
    switch self {
    case .gzip: ["gz"]
    case .zip: ["zip", "xlsx", "ods"]
    case .xz: ["xz"]
    case .zstd: ["zst"]
    case .bzip2: ["bz2"]
    case .excel: ["xls"]
    case .database: ["db", "sqlite", "sqlite3"]
    }
  }

  /// By a file's first bytes; nil for what may be text.
  init?(startingWith bytes: [UInt8]) {
    let found = Self.allCases.first {
      guard bytes.starts(with: $0.mark) else { return false }
      // Text may begin with the letters of bzip2: its first block has a number that is not text.
      return $0 != .bzip2 || bytes.dropFirst(4).starts(with: [0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
    }
    guard let found else { return nil }
    self = found
  }

  /// By the last extension of a file's name.
  init?(named path: String) {
    let name = FileName(path).last.lowercased()
    guard let found = Self.allCases.first(where: { $0.extensions.contains { name.hasSuffix(".\($0)") } }) else {
      return nil
    }
    self = found
  }

  /// What to do with a file that was named in place of a database; nil if its name says nothing.
  static func hint(inPlaceOfDatabase path: String) -> String? {
    if isRecords(path) {
      let (file, name) = (path.contains(" ") ? "\"\(path)\"" : path, FileName(path).bare)
      let table = TableProposal(for: ImportRequest(file: path, model: name))?.statement(for: name)
      return
        "a file of records can be asked:  quire query \(printable(file)) QUERY\n"
        + "or added to a table of a database:  .import \(printable(file)) MODEL  in a session with --write"
        + (table.map { "\nsuch a table: \($0)" } ?? "")
    }
    guard let other = OtherFile(named: path), other != .database else { return nil }
    return "\(printable(FileName(path).last)) \(other.text): \(other.hint)"
  }

  /// Whether a file begins as those of SQLite do.
  package static func isDatabase(_ path: String) -> Bool {
    guard FileName.isRegular(path), let file = FileHandle(forReadingAtPath: path) else { return false }
    return (try? file.read(upToCount: 16)) == Data(OtherFile.database.mark)
  }

  /// Whether a file's name is one of those that `.import` reads.
  static func isRecords(_ path: String) -> Bool {
    AnswerFormat(ofFile: path).map(ImportRecords.formats.contains) == true
  }

  /// What it is, behind the file's name.
  var text: String {
    switch self {
    case .gzip: "is compressed with gzip"
    case .zip: "is a ZIP archive, as .xlsx and .ods are, too"
    case .xz: "is compressed with xz"
    case .zstd: "is compressed with zstd"
    case .bzip2: "is compressed with bzip2"
    case .excel: "is a workbook of Excel"
    case .database: "is an SQLite database"
    }
  }

  var hint: String {
    switch self {
    case .gzip: "gunzip -c FILE > NEW.csv expands it"
    case .zip: "of a workbook save the sheet as CSV; unzip expands an archive"
    case .xz: "xz -dc FILE > NEW.csv expands it"
    case .zstd: "zstd -dc FILE > NEW.csv expands it"
    case .bzip2: "bunzip2 -c FILE > NEW.csv expands it"
    case .excel: "save the sheet as CSV"
    case .database: "quire query FILE 'TABLE' -o NEW.csv exports one of its tables"
    }
  }
}

import Catalog
import Foundation

/// A folder of its own for one test, removed with the value.
final class CSVFixture {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/quire-csv-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ text: String, as name: String = "test.csv") throws -> String {
    try write(bytes: Array(text.utf8), as: name)
  }

  func write(bytes: [UInt8], as name: String = "test.csv") throws -> String {
    let file = path + "/" + name
    try Data(bytes).write(to: URL(filePath: file))
    return file
  }
}

/// The real catalogs, which do not ship with the project: `QUIRE_DATA`, or `shared/data` beside the package.
enum RealData {
  static let folder: String? = {
    let beside = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/data").path
    let folder = ProcessInfo.processInfo.environment["QUIRE_DATA"] ?? beside
    if FileManager.default.fileExists(atPath: folder + "/goodbooks-10k/books.csv") { return folder }
    FileHandle.standardError.write(Data("tests of the real catalogs are SKIPPED: no \(folder)\n".utf8))
    return nil
  }()

  static var isMissing: Bool { folder == nil }
}

extension RecordReader {
  /// Everything, the good and the bad.
  mutating func all() throws -> (records: [Record], bad: [BadRecord]) {
    var records: [Record] = []
    var bad: [BadRecord] = []
    while let next = try next() {
      switch next {
      case .success(let record): records.append(record)
      case .failure(let reason): bad.append(reason)
      }
    }
    return (records, bad)
  }
}

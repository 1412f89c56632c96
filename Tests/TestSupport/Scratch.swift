import Foundation

/// A folder that goes with the test.
package final class Scratch: Sendable {
  package let path: String

  package init() throws {
    var template = Array("\(FileManager.default.temporaryDirectory.path)/quire-tests-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  package func file(_ name: String = "library.db") -> String { path + "/" + name }
}

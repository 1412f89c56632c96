import Foundation

/// A file's bytes in chunks.
struct CSVInput {
  let file: String
  /// Nil if it is unknown, as for a pipe.
  let byteCount: Int?
  private let handle: FileHandle
  private static let chunkSize = 256 << 10

  init(file: String) throws(CSVError) {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory) else { throw .missing(file: file) }
    if isDirectory.boolValue { throw .isDirectory(file: file) }
    do {
      handle = try FileHandle(forReadingFrom: URL(filePath: file))
    } catch {
      throw .unreadable(file: file, reason: Self.reason(of: error))
    }
    self.file = file
    let attributes = try? FileManager.default.attributesOfItem(atPath: file)
    byteCount = attributes?[.type] as? FileAttributeType == .typeRegular ? attributes?[.size] as? Int : nil
  }

  /// The next bytes, none at the end.
  func next() throws(CSVError) -> [UInt8] {
    do {
      return [UInt8](try handle.read(upToCount: Self.chunkSize) ?? Data())
    } catch {
      throw .unreadable(file: file, reason: Self.reason(of: error))
    }
  }

  /// The system's words for it, without Foundation's frame of domains and paths.
  private static func reason(of error: any Error) -> String {
    var error = error as NSError
    while let inner = error.userInfo[NSUnderlyingErrorKey] as? NSError { error = inner }
    if error.domain == NSPOSIXErrorDomain { return String(cString: strerror(Int32(error.code))) }
    return error.code == CocoaError.fileReadNoPermission.rawValue
      ? "Permission denied" : "\(error.localizedDescription)"
  }
}

import Foundation

/// Bytes of malloc in use in the whole process.
///
/// What `mallinfo2` would say; taken from `malloc_info`, whose C signature Swift can call through `dlsym`: Glibc's
/// module has neither.
func memoryInUse() -> Int {
  typealias MallocInfo = @convention(c) (Int32, UnsafeMutableRawPointer) -> Int32
  guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "malloc_info") else {
    preconditionFailure("this C library has no malloc_info")
  }
  let mallocInfo = unsafeBitCast(symbol, to: MallocInfo.self)
  var text: UnsafeMutablePointer<CChar>?
  var length = 0
  guard let stream = open_memstream(&text, &length) else { preconditionFailure("open_memstream failed") }
  let code = mallocInfo(0, UnsafeMutableRawPointer(stream))
  fclose(stream)
  defer { free(text) }
  guard code == 0, let text else { preconditionFailure("malloc_info failed") }

  // The totals of all arenas come after the last heap: free chunks by kind, mapped chunks, and what the system gave.
  let xml = String(cString: text)
  let totals = xml.range(of: "</heap>", options: .backwards).map { xml[$0.upperBound...] } ?? xml[...]
  func size(_ element: String) -> Int {
    guard let start = totals.range(of: "<\(element)\""),
      let size = totals[start.upperBound...].range(of: "size=\"")
    else { return 0 }
    return Int(totals[size.upperBound...].prefix { $0 != "\"" }) ?? 0
  }
  return size("system type=\"current") + size("total type=\"mmap") - size("total type=\"fast")
    - size("total type=\"rest")
}

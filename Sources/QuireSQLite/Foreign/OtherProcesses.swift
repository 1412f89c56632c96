internal import Foundation

/// Whether other processes have a database open, by the locks they hold.
///
/// Every process that has the WAL index open holds a shared lock on one byte of it, and the system lists all locks of
/// all processes. While the list is produced, no process gets a lock, and it grows with the number of open files; so
/// one reading serves all callers of this process in the meantime. A process in another namespace is not listed; it is
/// detected by its first commit.
enum OtherProcesses {
  private struct Reading {
    /// When the reading began; nil before the first.
    var begun: ContinuousClock.Instant?
    /// The files on which other processes hold the lock.
    var files: Set<UInt64> = []
  }
  /// Held while the list is read: callers that wait for it share the result.
  private static let latest = Locked(Reading())

  /// Always false on systems other than Linux.
  ///
  /// - Parameter age: The maximum age of the answer. Zero requires a reading that begins now or later.
  static func haveOpen(_ path: String, since age: Duration) -> Bool {
    var info = stat()
    guard stat(path + "-shm", &info) == 0 else { return false }
    let oldest = ContinuousClock.now - age
    return latest.withLock { reading in
      if reading.begun.map({ $0 < oldest }) ?? true {
        reading.begun = .now
        reading.files = filesOfOthers()
      }
      return reading.files.contains(UInt64(info.st_ino))
    }
  }

  private static func filesOfOthers() -> Set<UInt64> {
    guard let list = try? FileHandle(forReadingAtPath: "/proc/locks")?.readToEnd() else { return [] }
    let own = UInt64(getpid())
    return list.withUnsafeBytes { bytes in
      Set(bytes.split(separator: UInt8(ascii: "\n")).lazy.compactMap { fileOfOther($0, own) })
    }
  }

  /// The inode in a line such as `12: POSIX  ADVISORY  READ 4711 08:01:1234567 128 128`, if the lock is the one that
  /// marks the file as open (`UNIX_SHM_DMS`) and belongs to another process.
  private static func fileOfOther(_ line: Slice<UnsafeRawBufferPointer>, _ own: UInt64) -> UInt64? {
    guard line.suffix(openMark.count).elementsEqual(openMark) else { return nil }
    let words = line.split(separator: UInt8(ascii: " "))
    guard words.count == 8, number(words[4]) != own else { return nil }
    return words[5].split(separator: UInt8(ascii: ":")).last.flatMap(number)
  }

  private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> UInt64? {
    UInt64(String(decoding: digits, as: UTF8.self))
  }

  private static let openMark = Array(" 128 128".utf8)
}

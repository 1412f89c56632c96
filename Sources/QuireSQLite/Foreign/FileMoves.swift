internal import Foundation

/// Counts events on files that may have moved, replaced or deleted one of them.
///
/// One inotify instance serves all files of the process, because each user has few of them. Reading it costs a quarter
/// of a check of the path. Moves of a parent folder are not detected.
final class FileMoves: Sendable {
  private let watch: [Int32]
  private let mark = ProcessMark()

  deinit { if !mark.isInherited { FileMoves.end(watch) } }

  #if canImport(Glibc) || canImport(Musl)
    private struct Watches {
      /// Negative before the first file, and if the system refuses.
      var descriptor: Int32 = -1
      var hasBegun = false
      let mark = ProcessMark()
      var files: [Int32: File] = [:]
    }

    private struct File {
      var users = 0
      var events: UInt64 = 0
    }

    private static let watches = Locked(Watches())

    /// Nil if the system does not watch all of them.
    init?(_ paths: [String]) {
      let found: [Int32] = FileMoves.watches.withLock { watches in
        // A child's is the same object as its parent's, so that each would take events from the other.
        if watches.mark.isInherited { watches = Watches() }
        if !watches.hasBegun {
          watches.hasBegun = true
          watches.descriptor = inotify_init1(
            Int32(truncatingIfNeeded: IN_CLOEXEC) | Int32(truncatingIfNeeded: IN_NONBLOCK))
        }
        if watches.descriptor < 0 { return [] }
        return paths.map { path in
          let watch = inotify_add_watch(
            watches.descriptor, path,
            UInt32(truncatingIfNeeded: IN_MOVE_SELF) | UInt32(truncatingIfNeeded: IN_DELETE_SELF)
              | UInt32(truncatingIfNeeded: IN_ATTRIB))
          if watch >= 0 { watches.files[watch, default: File()].users += 1 }
          return watch
        }
      }
      watch = found
      if found.isEmpty || found.contains(where: { $0 < 0 }) { return nil }
    }

    private static func end(_ ended: [Int32]) {
      watches.withLock { watches in
        for watch in ended {
          guard let file = watches.files[watch] else { continue }
          if file.users > 1 {
            watches.files[watch]?.users -= 1
          } else {
            watches.files[watch] = nil
            inotify_rm_watch(watches.descriptor, watch)
          }
        }
      }
    }

    /// The number of events on the files; nil if one is no longer watched.
    var count: UInt64? {
      FileMoves.watches.withLock { watches in
        if FileMoves.hasEvents(watches.descriptor) { FileMoves.read(&watches) }
        var sum: UInt64 = 0
        for file in watch {
          guard let events = watches.files[file]?.events else { return nil }
          sum += events
        }
        return sum
      }
    }

    private static func hasEvents(_ descriptor: Int32) -> Bool {
      var size: Int32 = 0
      return ioctl(descriptor, UInt(FIONREAD), &size) != 0 || size > 0
    }

    private static func read(_ watches: inout Watches) {
      withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { buffer in
        while true {
          let size = Foundation.read(watches.descriptor, buffer.baseAddress, buffer.count)
          if size <= 0 { return }
          var place = 0
          while place + MemoryLayout<inotify_event>.size <= size {
            let event = buffer.load(fromByteOffset: place, as: inotify_event.self)
            place += MemoryLayout<inotify_event>.size + Int(event.len)
            if event.mask & UInt32(truncatingIfNeeded: IN_Q_OVERFLOW) != 0 {
              for watch in watches.files.keys { watches.files[watch]?.events += 1 }
            } else if event.mask & UInt32(truncatingIfNeeded: IN_IGNORED) != 0 {
              watches.files[event.wd] = nil  // the file is gone
            } else {
              watches.files[event.wd]?.events += 1
            }
          }
        }
      }
    }
  #else
    init?(_ paths: [String]) { nil }
    private static func end(_ ended: [Int32]) {}
    var count: UInt64? { nil }
  #endif
}

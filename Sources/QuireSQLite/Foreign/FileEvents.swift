internal import Foundation

/// The system's notifications about a file and its log. Only hints: correctness does not depend on them.
struct FileHints: OptionSet {
  let rawValue: Int
  /// A file of this name was created, deleted or renamed.
  static let moved = FileHints(rawValue: 1)
  /// The file was opened.
  static let opened = FileHints(rawValue: 2)
  /// The log was written.
  static let written = FileHints(rawValue: 4)
}

#if canImport(Glibc) || canImport(Musl)
  /// inotify on the file's folder, the file, and, on request, its log. Belongs to one thread.
  final class FileEvents {
    private let descriptor: Int32
    private let path: String
    private let name: String
    private let folder: Int32
    private let file: Int32
    private var log: Int32 = -1

    init(_ path: String) {
      self.path = path
      let url = URL(filePath: path)
      name = url.lastPathComponent
      descriptor = inotify_init1(Int32(truncatingIfNeeded: IN_CLOEXEC) | Int32(truncatingIfNeeded: IN_NONBLOCK))
      // If a watch is not available (there is a limit for each user), only polling is left.
      folder = inotify_add_watch(
        descriptor, url.deletingLastPathComponent().path(percentEncoded: false),
        UInt32(truncatingIfNeeded: IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF))
      file = inotify_add_watch(descriptor, path, UInt32(truncatingIfNeeded: IN_OPEN))
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Own commits trigger events too, so the log is watched only while other processes have the file open.
    var watchesLog: Bool {
      get { log >= 0 }
      set {
        if newValue, log < 0 {
          log = inotify_add_watch(descriptor, path + "-wal", UInt32(truncatingIfNeeded: IN_MODIFY))
        } else if !newValue, log >= 0 {
          inotify_rm_watch(descriptor, log)
          log = -1
        }
      }
    }

    /// Waits for an event, for at most that many microseconds.
    func wait(_ microseconds: Int) -> FileHints {
      if descriptor < 0 {
        usleep(UInt32(microseconds))
        return []
      }
      var pending = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if microseconds < 1000 { usleep(UInt32(microseconds)) }
      guard poll(&pending, 1, Int32(microseconds / 1000)) > 0 else { return [] }
      var hints: FileHints = []
      withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 8) { buffer in
        while true {
          let size = read(descriptor, buffer.baseAddress, buffer.count)
          if size <= 0 { return }
          var place = 0
          while place + MemoryLayout<inotify_event>.size <= size {
            let event = buffer.load(fromByteOffset: place, as: inotify_event.self)
            let start = place + MemoryLayout<inotify_event>.size
            place = start + Int(event.len)
            if event.mask & UInt32(truncatingIfNeeded: IN_Q_OVERFLOW) != 0 { hints.formUnion([.moved, .written]) }
            if event.wd == file { hints.insert(.opened) }
            if event.wd == log { hints.insert(.written) }
            if event.mask & UInt32(truncatingIfNeeded: IN_IGNORED) != 0, event.wd == log { log = -1 }
            guard event.wd == folder else { continue }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[start..<min(place, size)]).prefix { $0 != 0 }
            if bytes.isEmpty || bytes.elementsEqual(name.utf8) { hints.insert(.moved) }
          }
        }
      }
      return hints
    }
  }
#else
  /// Without notifications by the system: only waits.
  final class FileEvents {
    var watchesLog = false
    init(_ path: String) {}
    func wait(_ microseconds: Int) -> FileHints {
      usleep(UInt32(microseconds))
      return []
    }
  }
#endif

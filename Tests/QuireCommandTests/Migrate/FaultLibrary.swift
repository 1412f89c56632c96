import Foundation

/// A library that is loaded into `quire` before all others and counts what it does to files: each write, sync, truncation,
/// renaming and removal is one step. At the step it is told the process is killed before doing it (`KILL_AT`), or the disk
/// is full from there on (`FULL_AT`).
enum FaultLibrary {
  /// Nil where there is no compiler of C.
  static let path: String? = try? built()

  private static func built() throws -> String? {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-faults-\(getpid())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let (source, library) = (folder.appending(path: "faults.c"), folder.appending(path: "faults.so"))
    try Data(code.utf8).write(to: source)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["cc", "-shared", "-fPIC", "-O1", "-o", library.path, source.path, "-ldl"]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 {
      process.terminationHandler = nil
      let clang = Process()
      clang.executableURL = URL(filePath: "/usr/bin/env")
      clang.arguments = ["clang"] + (process.arguments ?? []).dropFirst()
      try clang.run()
      clang.waitUntilExit()
      guard clang.terminationStatus == 0 else { return nil }
    }
    return library.path
  }

  private static let code = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <signal.h>
    #include <stdlib.h>
    #include <sys/types.h>
    #include <unistd.h>

    static long steps, kill_at = -1, full_at;

    // Gives whether this step finds room on the disk.
    static int step(int writes) {
      if (kill_at < 0) {
        const char *at = getenv("KILL_AT"), *full = getenv("FULL_AT");
        kill_at = at ? atol(at) : 0;
        full_at = full ? atol(full) : 0;
      }
      steps++;
      if (steps == kill_at) kill(getpid(), SIGKILL);
      if (writes && full_at > 0 && steps >= full_at) { errno = ENOSPC; return 0; }
      return 1;
    }

    #define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

    ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) { return step(1) ? REAL(pwrite64)(fd, b, n, o) : -1; }
    ssize_t pwrite(int fd, const void *b, size_t n, off_t o) { return step(1) ? REAL(pwrite)(fd, b, n, o) : -1; }
    int ftruncate64(int fd, off64_t n) { step(0); return REAL(ftruncate64)(fd, n); }
    int ftruncate(int fd, off_t n) { step(0); return REAL(ftruncate)(fd, n); }
    int fsync(int fd) { step(0); return REAL(fsync)(fd); }
    int fdatasync(int fd) { step(0); return REAL(fdatasync)(fd); }
    int unlink(const char *p) { step(0); return REAL(unlink)(p); }
    int rename(const char *a, const char *b) { step(0); return REAL(rename)(a, b); }
    """
}

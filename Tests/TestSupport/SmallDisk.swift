package import Foundation

/// A disk of two megabytes, which can be filled.
package final class SmallDisk {
  package static let canBeMade: Bool = geteuid() == 0 && (try? SmallDisk(in: Scratch())) != nil
  package let folder: URL
  private let scratch: Scratch
  private var ballast: URL { folder.appending(path: "ballast") }

  package init(in scratch: Scratch) throws {
    self.scratch = scratch
    folder = URL(filePath: scratch.file("disk"))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try SmallDisk.run("mount", "-t", "tmpfs", "-o", "size=2m", "none", folder.path)
  }

  deinit { try? SmallDisk.run("umount", "-l", folder.path) }

  package func fill() throws {
    _ = FileManager.default.createFile(atPath: ballast.path, contents: nil)
    let file = try FileHandle(forWritingTo: ballast)
    defer { try? file.close() }
    for size in [65536, 4096, 1] {
      while (try? file.write(contentsOf: Data(count: size))) != nil {}
    }
  }

  package func empty() throws { try FileManager.default.removeItem(at: ballast) }

  package static func run(_ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw CocoaError(.featureUnsupported) }
  }
}

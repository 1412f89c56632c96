import Foundation
import LocalEtcd
import Testing

/// The short form of `Scripts/cluster-trust`.
@Suite(.enabled(if: EtcdCluster.isThere, "etcd-server is not installed: Scripts/setup --etcd"))
struct ClusterTests {
  @Test func `programs that are killed, and a leader that is, lose and double nothing`() async throws {
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "ClusterExample")
    process.arguments = ["trust", "--commits", "500", "--deaths", "20", "--leaders", "1", "--partitions", "0"]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
      }
    }
    print(text)
    #expect(process.terminationStatus == 0 && text.contains("lost: 0   twice: 0"))
  }
}

import Foundation
import Quire
import TestSupport
import Testing

/// Several programs that open a file with a plan at once.
@Suite struct PlanLockTests {
  /// Opens the file with the plan, which migrates it.
  private func begin(_ configuration: ModelConfiguration) throws {
    _ = try ModelContainer(
      for: Schema(versionedSchema: TicketsV2.self), migrationPlan: TicketsPlan.self, configurations: configuration)
  }

  @Test func `a file that another process has only just created is opened`() throws {
    let file = try TemporaryFile()
    try Data().write(to: file.url)
    try begin(ModelConfiguration(url: file.url))
    #expect(try Data(contentsOf: file.url).isEmpty == false)
  }

  @Test func `a file that another program migrates is waited for as long as the write timeout says, and it is named`()
    throws
  {
    let file = try TemporaryFile()
    _ = try ModelContainer(
      for: Schema(versionedSchema: TicketsV1.self), configurations: ModelConfiguration(url: file.url))
    let folder = open(file.url.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
    try #require(flock(folder, LOCK_EX) == 0)
    // The list of locks, the newest first, is then longer than what the system gives of it at once.
    let others = try (0..<200).map { number in
      let descriptor = open(file.url.path + ".\(number)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      try #require(flock(descriptor, LOCK_EX) == 0)
      return descriptor
    }
    defer { for descriptor in others { close(descriptor) } }
    var configuration = ModelConfiguration(url: file.url)
    configuration.writeTimeout = .milliseconds(200)
    let begun = ContinuousClock.now
    let error = #expect(throws: DatabaseError.self) { try begin(configuration) }
    #expect(ContinuousClock.now - begun < .seconds(20) && error?.cause == .transient)
    let said = "\(error.map { "\($0)" } ?? "")"
    // As the lock is this process's own.
    #expect(said.hasPrefix("another thread of this program, which migrates files of its folder, kept "), "\(said)")
    #expect(
      said.hasSuffix("locked for 0.2 seconds. Nothing was written; repeat, or raise the write timeout"), "\(said)")
    close(folder)
    try begin(configuration)
  }

  @Test func `a stage waits for another writer as long as the busy timeout says, and then names the file`() throws {
    let file = try TemporaryFile()
    _ = try ModelContainer(
      for: Schema(versionedSchema: TicketsV1.self), configurations: ModelConfiguration(url: file.url))
    let writer = try Connection(path: file.url.path, access: .readWrite)
    try writer.execute("BEGIN IMMEDIATE")
    var configuration = ModelConfiguration(url: file.url)
    configuration.busyTimeout = .milliseconds(200)
    let error = #expect(throws: DatabaseError.self) { try begin(configuration) }
    #expect(error?.cause == .transient)
    let said = "\(error, default: "")"
    #expect(said.contains("kept \(file.url.path) locked for 0.2 seconds. Nothing was written; repeat"), "\(said)")
    try writer.execute("ROLLBACK")
    try begin(configuration)
  }
}

private enum TicketsV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Ticket.self] }
  @Model final class Ticket {
    var name = ""
    init() {}
  }
}

private enum TicketsV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Ticket.self] }
  @Model final class Ticket {
    var name = ""
    var price = 0
    init() {}
  }
}

private enum TicketsPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [TicketsV1.self, TicketsV2.self] }
  static var stages: [MigrationStage] { [.lightweight(fromVersion: TicketsV1.self, toVersion: TicketsV2.self)] }
}

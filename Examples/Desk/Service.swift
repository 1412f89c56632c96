import Foundation
import Quire
import QuireMigration

/// The whole of it: a store with its migrations applied, the desk on it, the server, the feed and the background job.
final class Service: Sendable {
  let desk: Desk
  let metrics: Metrics
  let feed = Feed()
  let server: Server
  private let store: ModelContainer
  private let tasks: [Task<Void, Never>]
  private let observation: ObservationToken

  /// - Parameters:
  ///   - file: The database; it is made, or brought up to date.
  ///   - port: 0 is any free one.
  ///   - patience: How long a request may take, waiting included.
  ///   - pause: How long the background job waits between two runs.
  ///   - clients: How long clients may be silent.
  ///   - room: How many clients there may be at once.
  init(
    file: String, port: UInt16, patience: Duration = .seconds(5), overdueEvery pause: Duration = .seconds(60),
    clients: Server.Patience = Server.Patience(), room: Int = Server.roomForClients,
    log: @escaping @Sendable (String) -> Void
  ) throws {
    var migrator = Migrator(database: file, files: try MigrationFolder.read(embeddedMigrations))
    migrator.createsDatabase = true
    migrator.backsUp = true
    for migration in try migrator.apply() { log("level=info event=migrated version=\(migration.version)") }
    let store = try ModelContainer(
      for: Author.self, Book.self, Member.self, Loan.self, url: URL(filePath: file))
    let (desk, metrics, feed) = (Desk(store: store, patience: patience), Metrics(log: log), feed)
    observation = store.observeEvents { metrics.note($0) }
    server = try Server(port: port, Routes(desk: desk, metrics: metrics), feed, patience: clients, room: room)
    let commits = store.commits
    tasks = [
      Task { await feed.follow(commits) { metrics.note($0) } },
      Task {
        while !Task.isCancelled {
          do { _ = try await desk.markOverdue() } catch is CancellationError { return } catch { metrics.note(error) }
          try? await Task.sleep(for: pause)
        }
      },
    ]
    (self.store, self.desk, self.metrics) = (store, desk, metrics)
    try server.start()
  }

  /// Answers what has been asked, then closes the file.
  func stop() async throws {
    await server.stop()
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    observation.cancel()
    try await store.close()
  }
}

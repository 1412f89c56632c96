public import Foundation
public import QuireSQLite
public import QuireShared

/// Which file a container keeps its models in, and how it is opened.
public struct ModelConfiguration: Sendable {
  /// The file's name without its extension; `default` if none was given.
  public var name: String
  /// The file; `/dev/null` for a store in memory.
  public var url: URL { file ?? URL(filePath: "/dev/null") }
  let file: URL?
  /// Whether the store is a temporary file, which is removed with the store.
  public let isStoredInMemoryOnly: Bool
  /// Whether saves are accepted. If false, the file is opened for reading only: it and its folder may be write-protected, and
  /// nothing is left beside it when it is closed.
  public let allowsSave: Bool
  /// What survives a power loss: with `.full` (the default) every acknowledged commit; with `.normal` the last ones may
  /// be lost, and the file stays intact; with `.off`, for files that need not survive, the file may be damaged. A crash
  /// of the program alone loses nothing in any case. A shared store always uses `.normal`, because its log has every
  /// commit.
  public var synchronous: Synchronous = .full
  /// How long a write waits for another process that writes to the file, 5 s by default; then it throws
  /// ``QuireSQLite/DatabaseError/busy(path:waited:by:)``.
  public var busyTimeout = Duration.seconds(5)
  /// How long a thread waits to write while other threads of this process write, 60 s by default; then it throws
  /// ``QuireSQLite/DatabaseError/writerBusy(waited:)``. Opening a file waits as long while other programs run a
  /// ``SchemaMigrationPlan`` on it. ``ModelContainer/write(author:deadline:_:)`` has its deadline instead, because no
  /// thread waits for it.
  public var writeTimeout = Duration.seconds(60)
  /// How many blocks of ``ModelContainer/read(deadline:_:)`` run at once; nil for as many as the machine has cores.
  public var readers: Int?
  /// The page cache of each connection in bytes, 16 MB by default, filled as needed. There is a connection for the writer,
  /// one for each reader, and one for each context that is reading.
  public var cacheSize = 16 << 20
  /// After how many pages of 4 kB the write-ahead log is copied into the file; nil for 1 000 with `synchronous` full
  /// and 4 000 otherwise. A lower number keeps the log short; a higher one saves work for a file that is written often.
  public var checkpointPages: Int?
  /// Whether the file keeps a log of all that is committed to it: see ``QuireSQLite/ChangeLog``.
  public var changeLog: ChangeLog
  /// Whether the file's triggers and views may use virtual tables, such as a full-text index that follows its table by
  /// triggers. Only for files that you trust: the SQL of these triggers and views runs when you write to the file.
  public var trustsSchema = false
  /// What contexts do if a new object has a unique value that another row has; each context can set its own.
  public var onUniqueConflict = UniqueConflictPolicy.refuse
  /// What contexts do if a row was changed elsewhere after it was edited here; each context can set its own.
  public var onConflict = ConflictPolicy.merge
  /// The store that the file belongs to, if other machines have it too.
  public package(set) var shared: SharedStore?
  /// The models, if they are named here and not when the container is made.
  public let schema: Schema?

  /// A file in the default place, `$XDG_DATA_HOME/<program>/<name>.store`, or nothing on disk.
  ///
  /// - Parameters:
  ///   - groupContainer: A name in the program's place, for a file that several programs share.
  ///   - cloudKitDatabase: For SwiftData compatibility; has no effect: nothing leaves the machine.
  public init(
    _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
    groupContainer: GroupContainer = .automatic, cloudKitDatabase: CloudKitDatabase = .automatic,
    changeLog: ChangeLog = .asInFile
  ) {
    self.name = name ?? "default"
    self.file =
      isStoredInMemoryOnly ? nil : ModelConfiguration.defaultFile(named: name ?? "default", in: groupContainer)
    self.isStoredInMemoryOnly = isStoredInMemoryOnly
    self.allowsSave = allowsSave
    self.changeLog = changeLog
    self.schema = schema
  }

  /// Makes the folder of the file if it does not exist.
  func makeFolder() throws {
    guard let file else { return }
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
  }

  /// For a look into the file before it is opened: waits for others no longer than the store will.
  ///
  /// - Returns: Nil if there is no file, or one without bytes: another process may be creating it at this moment.
  func reading(_ file: String) throws(DatabaseError) -> Connection? {
    var options = ConnectionOptions()
    options.busyTimeout = busyTimeout
    options.leavesNothing = !allowsSave
    do {
      return try Connection(path: file, access: .readOnly, options: options)
    } catch {
      switch error {
      case .missing, .empty: return nil
      default: throw error
      }
    }
  }

  /// - Throws: ``ModelError/unusableSetting(_:reason:)`` for the first setting that cannot be used.
  func checkSettings() throws(ModelError) {
    func check(_ name: String, _ isUsable: Bool, _ reason: String) throws(ModelError) {
      if !isUsable { throw .unusableSetting(name, reason: reason) }
    }
    try check("url", file?.isPath ?? true, "it is not the URL of a file")
    try check("busyTimeout", busyTimeout >= .zero, "it is negative")
    try check("writeTimeout", writeTimeout >= .zero, "it is negative")
    try check(
      "shared", shared.map { SharedStore.isUsable(name: $0.name) && SharedStore.isUsable(name: $0.node) } ?? true,
      "a name has letters, digits, - . and _, and 64 of them at most")
    try check(
      "changeLog", shared == nil || changeLog == .asInFile,
      "it is switched before the file is shared, and is then the same on all machines")
    try check("readers", readers ?? 1 > 0, "there must be one at least")
    try check("cacheSize", cacheSize >= 1 << 16, "it must be 64 kB at least")
    try check("checkpointPages", checkpointPages ?? 1 > 0, "it must be one at least")
  }

  /// The file at `url`.
  public init(
    _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
    cloudKitDatabase: CloudKitDatabase = .automatic, changeLog: ChangeLog = .asInFile
  ) {
    self.name = name ?? url.deletingPathExtension().lastPathComponent
    self.file = url
    self.isStoredInMemoryOnly = false
    self.allowsSave = allowsSave
    self.changeLog = changeLog
    self.schema = schema
  }

  /// A file in the default place, or a store in memory, for these models.
  ///
  /// - Parameters:
  ///   - models: The classes, as in `ModelConfiguration(for: Book.self, Author.self)`.
  ///   - isStoredInMemoryOnly: Whether the store is a temporary file, which is removed with the store.
  @_disfavoredOverload
  public init(for models: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
    self.init(schema: Schema(models), isStoredInMemoryOnly: isStoredInMemoryOnly)
  }

  /// Which folder a file without a URL is in.
  public struct GroupContainer: Hashable, Sendable {
    let identifier: String?
    /// The program's own folder.
    public static let automatic = GroupContainer(identifier: nil)
    /// The program's own folder, as ``automatic``.
    public static let none = GroupContainer(identifier: nil)
    /// `$XDG_DATA_HOME/<identifier>`, for all programs that name it.
    public static func identifier(_ name: String) -> GroupContainer { GroupContainer(identifier: name) }
  }

  /// SwiftData's choice of a cloud. For SwiftData compatibility; has no effect: nothing leaves the machine.
  public struct CloudKitDatabase: Hashable, Sendable {
    /// No cloud.
    public static let automatic = CloudKitDatabase()
    /// No cloud.
    public static let none = CloudKitDatabase()
    /// No cloud, whatever the name.
    public static func `private`(_ name: String) -> CloudKitDatabase { CloudKitDatabase() }
  }

  private static func defaultFile(named name: String, in group: GroupContainer) -> URL {
    let environment = ProcessInfo.processInfo.environment
    let home =
      environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : nil }
      ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/share")
    let program = URL(filePath: CommandLine.arguments.first ?? "quire").lastPathComponent
    return home.appending(path: group.identifier ?? program).appending(path: "\(name).store")
  }
}

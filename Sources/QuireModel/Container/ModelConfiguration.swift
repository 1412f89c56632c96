public import Foundation
public import QuireSQLite

/// Where a container keeps its rows, and how.
public struct ModelConfiguration: Sendable {
  public var name: String
  /// The file; `/dev/null` in memory.
  public var url: URL { file ?? URL(filePath: "/dev/null") }
  let file: URL?
  public let isStoredInMemoryOnly: Bool
  /// Whether saves are accepted.
  public let allowsSave: Bool
  /// What survives what: `.full` (the default) keeps an acknowledged commit through power loss, `.normal` may lose the
  /// last ones then and never corrupts.
  public var synchronous: Synchronous = .full
  /// Whether the file keeps a log of all that is committed to it: see ``QuireSQLite/ChangeLog``.
  public var changeLog: ChangeLog
  /// Whether the file's triggers and views may use virtual tables, such as a full-text index that follows its table by
  /// triggers. For files of your own: what a stranger's file does there runs when you write to it.
  public var trustsSchema = false
  /// What its contexts do where a new object has a unique value of a row that is there, until they are told otherwise.
  public var onUniqueClash = UniqueClashPolicy.refuse
  /// What its contexts do where somebody else has changed what was edited, until they are told otherwise.
  public var onConflict = ConflictPolicy.merge
  /// The models, where they are named here and not when the container is made.
  public let schema: Schema?

  /// A file in the default place, `$XDG_DATA_HOME/<program>/<name>.store`, or nothing on disk.
  ///
  /// - Parameters:
  ///   - groupContainer: A name in the program's place, for a file that several programs share.
  ///   - cloudKitDatabase: Accepted for SwiftData's sake: nothing leaves the machine.
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

  /// A file of a place of its own.
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

  @_disfavoredOverload
  public init(for models: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
    self.init(schema: Schema(models), isStoredInMemoryOnly: isStoredInMemoryOnly)
  }

  /// Which folder a file without a URL is in.
  public struct GroupContainer: Hashable, Sendable {
    let identifier: String?
    public static let automatic = GroupContainer(identifier: nil)
    public static let none = GroupContainer(identifier: nil)
    /// `$XDG_DATA_HOME/<identifier>`, for all programs that name it.
    public static func identifier(_ name: String) -> GroupContainer { GroupContainer(identifier: name) }
  }

  /// SwiftData's choice of a cloud; here there is none.
  public struct CloudKitDatabase: Hashable, Sendable {
    public static let automatic = CloudKitDatabase()
    public static let none = CloudKitDatabase()
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

public import Foundation
public import QuireSQLite

/// Where a container keeps its rows, and how.
public struct ModelConfiguration: Sendable {
  public var name: String
  /// The file; nil in memory.
  public let url: URL?
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
  let models: [any PersistentModel.Type]

  /// A file in the default place, `$XDG_DATA_HOME/<program>/<name>.store`, or nothing on disk.
  public init(
    _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
    changeLog: ChangeLog = .asInFile
  ) {
    self.name = name ?? "default"
    self.url = isStoredInMemoryOnly ? nil : ModelConfiguration.defaultFile(named: name ?? "default")
    self.isStoredInMemoryOnly = isStoredInMemoryOnly
    self.allowsSave = allowsSave
    self.changeLog = changeLog
    self.models = schema?.types ?? []
  }

  public init(
    _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true, changeLog: ChangeLog = .asInFile
  ) {
    self.name = name ?? url.deletingPathExtension().lastPathComponent
    self.url = url
    self.isStoredInMemoryOnly = false
    self.allowsSave = allowsSave
    self.changeLog = changeLog
    self.models = schema?.types ?? []
  }

  @_disfavoredOverload
  public init(for models: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
    self.init(schema: Schema(models), isStoredInMemoryOnly: isStoredInMemoryOnly)
  }

  private static func defaultFile(named name: String) -> URL {
    let environment = ProcessInfo.processInfo.environment
    let home =
      environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : nil }
      ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/share")
    let program = URL(filePath: CommandLine.arguments.first ?? "quire").lastPathComponent
    return home.appending(path: program).appending(path: "\(name).store")
  }
}

/// A set of model classes.
public struct Schema: Sendable {
  public let types: [any PersistentModel.Type]
  public init(_ types: [any PersistentModel.Type]) { self.types = types }
  public init(_ types: any PersistentModel.Type...) { self.types = types }
}

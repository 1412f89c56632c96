import QuireShared

extension Command {
  /// `quire node`: stores that several machines share.
  public static let node: Command = {
    func command(
      _ name: String, _ summary: String, _ arguments: [Argument], _ options: [Option] = [],
      run: @escaping @Sendable (NodeTarget) throws -> ExitStatus
    ) -> Command {
      Command(name, summary, arguments: arguments, options: options) { invocation in
        try NodeTarget.explaining { try run(NodeTarget(invocation)) }
      }
    }
    return Command(
      "node", "have one store on several machines", options: common, notes: notes,
      subcommands: [
        command("status", "where this machine and the others stand", [file(.optional)], [store]) {
          try NodeStatus(target: $0).run()
        },
        command("share", "make a file the first one of a store", [file(.required)], [store, name]) {
          try NodeSharing(target: $0).share()
        },
        command("join", "make this machine's file of a store", [file(.required)], [store, name]) {
          try NodeSharing(target: $0).join()
        },
        command("rejoin", "replace it by the newest snapshot; the old file stays beside it", [file(.required)]) {
          try NodeSharing(target: $0).rejoin()
        },
        command("leave", "make it an ordinary file", [file(.required)]) { try NodeSharing(target: $0).leave() },
        command("log", "what was committed, by which machine", [file(.optional)], [store, last, follow]) {
          try NodeLog(target: $0).run()
        },
        command("check", "compare the files of all machines at one position", [file(.required)]) {
          try NodeCheck(target: $0).run()
        },
        command("snapshot", "put a copy of the file beside the log, for machines that join", [file(.required)]) {
          try NodeUpkeep(target: $0).snapshot()
        },
        command("trim", "remove old entries from the log", [file(.required)], [keeping]) {
          try NodeUpkeep(target: $0).trim()
        },
        command("cluster", "print the settings of an etcd cluster", [Argument("HOST", "its machines", .many)]) {
          try NodeCluster(target: $0).run()
        },
      ], defaultSubcommand: "status")
  }()

  private static let common = [
    Option(
      "--at", value: "HOST:PORT", environment: "QUIRE_ETCD", repeats: true,
      "a member of the etcd cluster; several, or separated by commas (127.0.0.1:2379)"),
    Option("--wait", value: "SECONDS", "how long to wait for the log, and for other machines (5)"),
    Option("--json", "one JSON document, of an error too; of log: one for each entry"),
    Option("--quiet", short: "-q", "print errors only"),
  ]

  private static let notes = """
    Each machine has the whole store in a file of its own, and a member of etcd keeps the log that all of them follow.
    share, join, rejoin and leave need the file alone: stop the programs that have it open.

    Exit status: 0 done, 1 it did not work, 2 usage, 5 refused, 6 the log cannot be reached or the file is in use,
    8 files differ (check), 130 Ctrl-C or SIGTERM
    """

  private static func file(_ kind: Argument.Kind) -> Argument { Argument("FILE", "this machine's file", kind) }
  private static let store = Option("--as", value: "STORE", "the store's name; letters, digits, - . and _")
  private static let name = Option("--node", value: "NAME", "this machine's name (its host name)")
  private static let last = Option("--last", short: "-n", value: "N", "how many entries (20)")
  private static let follow = Option("--follow", short: "-f", "go on with new ones until Ctrl-C")
  private static let keeping = Option("--keeping", value: "DAYS", "keep entries that are younger (7)")
}

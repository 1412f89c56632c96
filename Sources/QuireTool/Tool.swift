import Foundation
import QuireMigration
import QuireSQLite

/// A program made of commands: the `quire` binary, or an application's own binary with the same commands.
///
///     let tool = Tool("quire", version: "0.1.0", "keeps live model objects in SQLite", commands: [.migrate, …])
///     tool.main()
///
/// An error is printed once, on standard error, beginning with `error:`; invalid arguments give exit status 2 before
/// any file is opened. With a command's `--json` the error is also printed as the answer, as a document, unless the
/// answer had begun.
public struct Tool: Sendable {
  /// What `--version` prints, without the program's name.
  public let version: String
  let root: Command

  /// - Parameter defaultCommand: The command to use if the first argument is not one, such as a file.
  public init(
    _ name: String, version: String, _ summary: String, commands: [Command], defaultCommand: String? = nil,
    notes: String? = nil
  ) {
    self.version = version
    let help = Command(
      "help", "explain a command", arguments: [Argument("COMMAND", "the command, and its subcommand", .many)],
      options: [Option("--man", "print the manual page of the program or a command, for man -l -")]
    ) { _ in .done }
    let completion = Command(
      "completion", "print a script that lets a shell complete these commands",
      arguments: [Argument("SHELL", Completion.Shell.names, accepts: { Completion.Shell(rawValue: $0) != nil })]
    ) { _ in .done }
    root = Command(
      name, summary, notes: notes, subcommands: commands + [completion, help], defaultSubcommand: defaultCommand)
  }

  /// Runs the command that the process was started with, and ends the process with its status: the whole of a program.
  ///
  /// Runs on the main thread, and makes no other thread until a command has to wait for something.
  @MainActor public func main() -> Never {
    // Writing to a pipe whose reader has gone is an error instead of the process's end, so that files are closed. A
    // handler, because a program started by a command would inherit a signal that is ignored.
    signal(SIGPIPE) { _ in }
    // Who starts a process from a thread that blocks signals, as those of Foundation and Dispatch do, hands that down.
    var stopping = sigset_t()
    sigemptyset(&stopping)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { sigaddset(&stopping, signal) }
    StopSignal.endTheProcess()
    pthread_sigmask(SIG_UNBLOCK, &stopping, nil)
    Self.keepStandardDescriptors()
    let command: @MainActor () async -> Void = {
      let terminal = Terminal.standard(environment: .process)
      guard let arguments = Self.words(CommandLine.arguments, or: { InputFile.contents(of: "/proc/self/cmdline") })
      else {
        terminal.printError("the program's arguments cannot be read, because /proc is not mounted. Nothing was done.")
        exit(ExitStatus.usage.rawValue)
      }
      // Swift has this character in the place of bytes that are not UTF-8.
      if arguments.contains(where: { $0.contains("\u{FFFD}") }),
        let words = InputFile.contents(of: "/proc/self/cmdline"),
        String(validating: words, as: UTF8.self) == nil
      {
        terminal.printError("an argument is not UTF-8. Nothing was done.")
        exit(ExitStatus.usage.rawValue)
      }
      exit(await run(Array(arguments.dropFirst()), terminal, .process, true))
    }
    if #available(macOS 26, *) {
      Task.immediate(operation: command)
    } else {
      Task(operation: command)
    }
    dispatchMain()
  }

  /// Opens what the process was started without of standard input, output and error, so that no file or pipe of ours gets its
  /// number. Reading and writing there is an error, as if it were closed.
  private static func keepStandardDescriptors() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is this one.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// What the program was started with, its own path first; nil if that cannot be found out.
  ///
  /// Swift finds the words behind those of the environment, and none if a library that was loaded before the program, such as
  /// libfaketime, has put that elsewhere.
  ///
  /// - Parameter file: What Linux keeps of them, with a NUL behind each.
  static func words(_ found: [String], or file: () -> Data?) -> [String]? {
    if found.first?.isEmpty == false { return found }
    let kept = file()?.split(separator: 0, omittingEmptySubsequences: false).dropLast() ?? []
    return kept.first?.isEmpty == false ? kept.map { String(decoding: $0, as: UTF8.self) } : nil
  }

  /// Runs the command that `arguments` (without the program's path) name, on the caller's actor, which a command keeps
  /// until it waits for something.
  public func run(
    _ arguments: [String], terminal: Terminal? = nil, environment: Environment = .process
  ) async -> Int32 {
    await run(arguments, terminal ?? .standard(environment: environment), environment, false)
  }

  private func run(
    _ arguments: [String], _ terminal: Terminal, _ environment: Environment, _ isWholeProcess: Bool
  ) async -> Int32 {
    let answer = AnswerWatch()
    let terminal = answer.watching(terminal.applying(color: Self.color(in: arguments)))
    let parser = ArgumentParser(
      root: root, common: Self.common, terminal: terminal, environment: environment, isWholeProcess: isWholeProcess,
      isFile: { access($0, F_OK) == 0 })
    do {
      let status = try await run(arguments, parser).rawValue
      // The reader has closed the pipe and needs no more output.
      guard let code = terminal.outputFailure(), code != EPIPE else { return status }
      terminal.printError(
        "the answer could not be written: \(String(cString: strerror(code)))"
          + (status == 0 ? ". Apart from that the command has done its work" : ""))
      return status == 0 ? ExitStatus.failure.rawValue : status
    } catch {
      let told = (error as? any CommandError) ?? CommandFailure("\(error)")
      if !answer.hasBegun, answersInJSON(arguments, parser) { terminal.print(JSON(error, told).text) }
      terminal.printError(told.description, prefix: told.exitStatus == .refused ? "refused" : "error")
      return told.exitStatus.rawValue
    }
  }

  /// Whether the command has `--json`, and that was given; also if the other words are not understood.
  private func answersInJSON(_ arguments: [String], _ parser: ArgumentParser) -> Bool {
    do throws(UsageError) {
      guard case .run(_, let invocation) = try parser.parse(arguments) else { return false }
      return invocation.flag("--json")
    } catch {
      guard arguments.prefix(while: { $0 != "--" }).contains("--json") else { return false }
      let path = (try? find(Array(error.command.dropFirst()))) ?? []
      return path.contains { $0.options.contains { $0.name == "--json" } }
    }
  }

  private static let common = [
    Option("--color", choices: ["auto", "always", "never"], "color the output (auto: on a terminal)"),
    Option("--help", short: "-h", "explain the command"),
  ]

  private func run(_ arguments: [String], _ parser: ArgumentParser) async throws -> ExitStatus {
    let terminal = parser.terminal
    if arguments == ["--version"] {
      terminal.print("\(root.name) \(version)")
      return .done
    }
    switch try parser.parse(arguments) {
    case .version: terminal.print("\(root.name) \(version)")
    case .help(let path): terminal.print(Help(path: path, common: Self.common).text)
    case .run(let command, let invocation):
      if command.name == "help", invocation.flag("--man") {
        let page = ManPage(
          path: try find(Array(invocation.arguments("COMMAND").prefix(1))), common: Self.common, version: version)
        terminal.print(page.text)
        return .done
      }
      if command.name == "help" {
        terminal.print(Help(path: try find(invocation.arguments("COMMAND")), common: Self.common).text)
        return .done
      }
      if command.name == "completion", let shell = invocation.argument("SHELL").flatMap(Completion.Shell.init) {
        terminal.print(Completion(root: root, common: Self.common).script(for: shell))
        return .done
      }
      return try await command.run?(invocation) ?? .done
    }
    return .done
  }

  /// The commands a path of names leads through.
  private func find(_ names: [String]) throws(UsageError) -> [Command] {
    var path = [root]
    for name in names {
      let commands = path.last?.subcommands ?? []
      guard let next = commands.first(where: { $0.name == name }) else {
        let near = nearest(to: name, among: commands.map(\.name)).map { ": did you mean \($0)?" } ?? ""
        throw UsageError("unknown command ‘\(name)’\(near)", command: path.map(\.name))
      }
      path.append(next)
    }
    return path
  }

  /// Determined before parsing, because errors of parsing are colored too.
  private static func color(in arguments: [String]) -> String? {
    for (index, word) in arguments.prefix(while: { $0 != "--" }).enumerated() {
      if word.hasPrefix("--color=") { return String(word.dropFirst("--color=".count)) }
      if word == "--color", index + 1 < arguments.count { return arguments[index + 1] }
    }
    return nil
  }
}

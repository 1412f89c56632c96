/// One command, as a row of the table that parsing, help and suggestions are made from.
///
///     let count = Command(
///       "count", "count the books of a catalog",
///       arguments: [Argument("FILE", "the database")],
///       options: [Option("--author", value: "NAME", "only this author's")]
///     ) { invocation in
///       invocation.terminal.print("\(try books(in: invocation.argument("FILE"), by: invocation["--author"]))")
///       return .done
///     }
///
/// A command either runs or has subcommands. Its options may be anywhere after its name; the options of a command with
/// subcommands apply to all of them.
public struct Command: Sendable {
  /// The word that is typed.
  public var name: String
  /// What it does, in a few words without capital and full stop.
  public var summary: String
  /// The arguments that are given by position, in order.
  public var arguments: [Argument]
  /// Its options; of a command with subcommands those of all of them.
  public var options: [Option]
  /// Paragraphs at the end of its help.
  public var notes: String?
  /// The commands below it; empty for a command that runs.
  public var subcommands: [Command]
  /// The subcommand to run if none is named.
  public var defaultSubcommand: String?
  /// What it does; nil for a command with subcommands.
  public var run: Run?
  /// What to say of words that it does not have, such as the names that other tools give its subcommands and options.
  var hints: [String: String] = [:]
  /// What to say of a word too many; `program` is the name that the user types.
  var hintOfExtra: (@Sendable (_ words: [String], _ program: String) -> String)?

  /// Does the work of one call and returns the exit status. An error that it throws is printed once, and gives the status of
  /// its ``CommandError``, or else ``ExitStatus/failure``.
  public typealias Run = @Sendable (Invocation) async throws -> ExitStatus

  /// A command that runs.
  ///
  /// - Parameters:
  ///   - name: The word that is typed.
  ///   - summary: What it does, in a few words without capital and full stop.
  ///   - arguments: Those given by position, in order.
  ///   - options: Its options, beside those of the commands above it.
  ///   - notes: Paragraphs at the end of its help.
  ///   - run: What it does.
  public init(
    _ name: String, _ summary: String, arguments: [Argument] = [], options: [Option] = [], notes: String? = nil,
    run: @escaping Run
  ) {
    self.init(name, summary, arguments: arguments, options: options, notes: notes, subcommands: [], run: run)
  }

  /// A command with subcommands.
  ///
  /// - Parameters:
  ///   - name: The word that is typed.
  ///   - summary: What its subcommands do, in a few words without capital and full stop.
  ///   - options: Options of all subcommands.
  ///   - notes: Paragraphs at the end of its help.
  ///   - subcommands: The commands below it.
  ///   - defaultSubcommand: The name of the one to run if none is named.
  public init(
    _ name: String, _ summary: String, options: [Option] = [], notes: String? = nil, subcommands: [Command],
    defaultSubcommand: String? = nil
  ) {
    self.init(name, summary, arguments: [], options: options, notes: notes, subcommands: subcommands, run: nil)
    self.defaultSubcommand = defaultSubcommand
  }

  private init(
    _ name: String, _ summary: String, arguments: [Argument], options: [Option], notes: String?,
    subcommands: [Command], run: Run?
  ) {
    self.name = name
    self.summary = summary
    self.arguments = arguments
    self.options = options
    self.notes = notes
    self.subcommands = subcommands
    self.run = run
  }
}

/// An argument of a command, given by position.
public struct Argument: Sendable {
  /// In capitals, as help shows it.
  public var name: String
  /// What it is, as help shows it beside the name.
  public var help: String
  /// How often it must and may be given.
  public var kind: Kind
  /// The words it accepts; nil for any word. A word goes to the first argument that accepts it, whatever their order,
  /// so that `undo 2 library.db` and `undo library.db 2` are one.
  public var accepts: (@Sendable (String) -> Bool)?

  /// How often an argument is given.
  public enum Kind: Sendable {
    /// Once.
    case required
    /// Once, or not at all.
    case optional
    /// Any number, none included; must be the last.
    case many
  }

  /// An argument with these values; see the properties.
  public init(
    _ name: String, _ help: String, _ kind: Kind = .required, accepts: (@Sendable (String) -> Bool)? = nil
  ) {
    self.name = name
    self.help = help
    self.kind = kind
    self.accepts = accepts
  }
}

/// An option of a command, given by name.
public struct Option: Sendable {
  /// With its dashes, such as `--database`.
  public var name: String
  /// One dash and one letter, such as `-d`.
  public var short: String?
  /// What follows, as help shows it; nil for a flag.
  public var value: String? {
    get { given ?? (choices.isEmpty ? nil : choices.joined(separator: "|")) }
    set { given = newValue }
  }
  private var given: String?
  /// The allowed values; any other is refused.
  public var choices: [String]
  /// The environment variable that gives the value if the option is not given.
  public var environment: String?
  /// Whether it may be given several times.
  public var repeats: Bool
  /// What it does, as help shows it beside the name.
  public var help: String

  /// Whether anything follows.
  var takesValue: Bool { given != nil || !choices.isEmpty }

  /// An option with these values; see the properties. Without `value` and `choices` it is a flag.
  public init(
    _ name: String, short: String? = nil, value: String? = nil, choices: [String] = [], environment: String? = nil,
    repeats: Bool = false, _ help: String
  ) {
    self.name = name
    self.short = short
    given = value
    self.choices = choices
    self.environment = environment
    self.repeats = repeats
    self.help = help
  }
}

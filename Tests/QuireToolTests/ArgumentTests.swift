import Foundation
import Testing

@testable import QuireTool

/// Says back what it was given.
private let echo = Command(
  "echo", "say it back",
  arguments: [Argument("FIRST", "one word"), Argument("REST", "more of them", .many)],
  options: [
    Option("--flag", short: "-f", "a flag"),
    Option("--name", short: "-n", value: "NAME", environment: "ECHO_NAME", "a name"),
    Option("--number", value: "N", "a number"), Option("--each", short: "-e", value: "X", repeats: true, "several"),
    Option("--format", choices: ["csv", "json"], "a choice"),
  ]
) { call in
  let number = try call.integer("--number", in: 1...9).map { "\($0)" } ?? "-"
  call.terminal.print(
    [
      call.argument("FIRST") ?? "", call.arguments("REST").joined(separator: "+"), "\(call.flag("--flag"))",
      call["--name"] ?? "-", number, call.values("--each").joined(separator: "+"), call["--format"] ?? "-",
    ].joined(separator: " "))
  return .done
}

private let group = Command(
  "group", "two of them", options: [Option("--common", value: "C", "of both")],
  subcommands: [
    Command("first", "the usual one", arguments: [Argument("FILE", "a file", .optional)]) { call in
      call.terminal.print("first \(call.argument("FILE") ?? "-") \(call["--common"] ?? "-")")
      return .pending
    },
    Command("second", "the other", options: [Option("--only", "its own")]) { call in
      call.terminal.print("second \(call.flag("--only")) \(call["--common"] ?? "-")")
      return .done
    },
  ], defaultSubcommand: "first")

private struct Sudden: Error, CustomStringConvertible { let description = "sudden\u{1B}[2J" }

private let fail = Command("fail", "does") { call in
  if call.environment["HOW"] == "refused" { throw CommandFailure("it would hurt", .refused) }
  throw Sudden()
}

private let tool = Tool("tool", version: "1.2.3", "is a tool", commands: [echo, group, fail])

@Suite struct ArgumentTests {
  @Test(arguments: [
    (["a"], "a  false - -  -"),
    (["a", "b", "c"], "a b+c false - -  -"),
    (["-f", "a", "--name", "N", "--number=3"], "a  true N 3  -"),
    (["a", "-fnN", "-e1", "-e", "2", "--each=3=4"], "a  true N - 1+2+3=4 -"),
    (["--", "--flag", "-n"], "--flag -n false - -  -"),
    (["-", "--format=json"], "-  false - -  json"),
    (["a", "--name", "--flag"], "a  false --flag -  -"),
    (["a", "--name="], "a  false  -  -"),
  ])
  func `words are sorted into arguments and options`(words: [String], output: String) async {
    let recorder = Recorder()
    #expect(await tool.run(["echo"] + words, terminal: recorder.terminal(), environment: [:]) == 0)
    #expect(recorder.output == output + "\n")
    #expect(recorder.error.isEmpty)
  }

  @Test(arguments: [
    (["ech"], "unknown command ‘ech’: did you mean echo?\nhelp:  tool help"),
    (["zzzzzz"], "unknown command ‘zzzzzz’ (there are echo, group, fail, completion, help)\nhelp:  tool help"),
    (["echo"], "FIRST is missing\nhelp:  tool help echo"),
    (["echo", "a", "--nmae", "x"], "tool echo has no option --nmae: did you mean --name?\nhelp:  tool help echo"),
    (["echo", "a", "-x"], "tool echo has no option -x\nhelp:  tool help echo"),
    (
      ["echo", "-- a comment\nBook"],
      "tool echo has no option -- a comment. What begins with - and is no option stands behind --\nhelp:  tool help echo"
    ),
    (["echo", "a", "--name"], "--name needs its NAME\nhelp:  tool help echo"),
    (["echo", "a", "--flag=1"], "--flag takes no value\nhelp:  tool help echo"),
    (["echo", "a", "--name", "b", "-nc"], "--name was given more than once\nhelp:  tool help echo"),
    (["echo", "a", "--number", "ten"], "--number takes a whole number from 1 to 9, not ‘ten’\nhelp:  tool help echo"),
    (["echo", "a", "--number", "10"], "--number takes a whole number from 1 to 9, not ‘10’\nhelp:  tool help echo"),
    (
      ["echo", "a", "--format", "jsn"], "--format takes csv|json, not ‘jsn’: did you mean json?\nhelp:  tool help echo"
    ),
    (["group", "frist"], "unknown command ‘frist’: did you mean first?\nhelp:  tool help group"),
    (["group", "first", "a", "b"], "unexpected argument ‘b’\nhelp:  tool help group first"),
    (["help", "ecko"], "unknown command ‘ecko’: did you mean echo?\nhelp:  tool help"),
    (["completion", "bsh"], "‘bsh’ is not a valid SHELL: bash, zsh, fish\nhelp:  tool help completion"),
    (["--flga"], "tool has no option --flga: did you mean --flag?\nhelp:  tool help"),
  ])
  func `what is not understood gives status 2 and one message`(words: [String], message: String) async {
    let recorder = Recorder()
    #expect(await tool.run(words, terminal: recorder.terminal(), environment: [:]) == 2)
    #expect(recorder.error == "error: " + message + "\n")
    #expect(recorder.output.isEmpty)
  }

  @Test func `the environment stands in for an option that is not given`() async {
    #expect(await tool.ran("echo", "a", environment: ["ECHO_NAME": "E"]).output == "a  false E -  -\n")
    #expect(await tool.ran("echo", "a", "-nN", environment: ["ECHO_NAME": "E"]).output == "a  false N -  -\n")
    #expect(await tool.ran("echo", "a", environment: ["ECHO_NAME": ""]).output == "a  false - -  -\n")
  }

  @Test func `a program's default command takes what is no command, and nothing is asked for help`() async {
    let tool = Tool("tool", version: "1", "is a tool", commands: [echo, group], defaultCommand: "echo")
    #expect(await tool.ran("library.db", "-f").output == "library.db  true - -  -\n")
    #expect(await tool.ran("group", "a.db").output == "first a.db -\n")
    #expect(await tool.ran("gruop").error.contains("did you mean group?"))
    let help = await tool.ran()
    #expect(help.status == 0 && help.output.contains("without a command: echo"))
  }

  @Test func `without its name the default subcommand is meant, and common options stand anywhere`() async {
    #expect(await tool.ran("group").output == "first - -\n")
    #expect(await tool.ran("group").status == 3)
    #expect(await tool.ran("group", "x.db", "--common", "c").output == "first x.db c\n")
    #expect(await tool.ran("group", "--common", "c", "second", "--only").output == "second true c\n")
    #expect(await tool.ran("group", "--only", "second").output == "second true -\n")
  }

  @Test func `help is made from the table`() async {
    let root = await tool.ran()
    #expect(root.status == 0)
    #expect(await tool.ran("--help").output == root.output)
    #expect(root.output.contains("  group                two of them\n"))
    let help = await tool.ran("help", "echo").output
    #expect(await tool.ran("echo", "--help").output == help)
    #expect(await tool.ran("echo", "--nonsense", "-h").output == help)
    #expect(
      help.hasPrefix("usage: tool echo FIRST [REST…] [OPTIONS]\n\nsay it back\n\nArguments:\n  FIRST   one word\n"))
    #expect(help.contains("  -n, --name NAME         a name  [ECHO_NAME]\n"))
    #expect(help.contains("      --format csv|json   a choice\n"))
    let group = await tool.ran("help", "group").output
    #expect(group.contains("without a command: first") && group.contains("Options of second:\n      --only   its own"))
    #expect(await tool.ran("--version").output == "tool 1.2.3\n")
  }

  @Test func `an error is printed once, and its control characters are seen, not obeyed`() async {
    let ran = await tool.ran("fail")
    #expect(ran.status == 1 && ran.error == "error: sudden␛[2J\n")
    let refused = await tool.ran("fail", environment: ["HOW": "refused"])
    #expect(refused.status == 5 && refused.error == "refused: it would hurt\n")
  }

  @Test func `color is as asked for`() async {
    #expect(await tool.ran("fail", "--color=always").error.hasPrefix("\u{1B}[31merror:\u{1B}[0m "))
    #expect(await tool.ran("--color", "never", "fail", usesColor: true).error.hasPrefix("error: "))
    #expect(await tool.ran("fail", "--color", "sometimes").status == 2)
  }

  @Test func `words that Swift does not find are read from what Linux keeps of them`() {
    #expect(Tool.words(["quire", "help"], or: { nil }) == ["quire", "help"])
    for found in [[], [""]] {
      #expect(Tool.words(found, or: { Data("quire\0query\0\0a b\0".utf8) }) == ["quire", "query", "", "a b"])
      for kept in [nil, Data(), Data("\0".utf8)] { #expect(Tool.words(found, or: { kept }) == nil) }
    }
  }
}

import QuireTool
import Testing

private let sail = Command(
  "sail", "go \\ somewhere",
  options: [Option("--wind", short: "-w", value: "FROM", environment: "WIND", "its direction")],
  notes: ".first line\n\nExit status: 0 done",
  subcommands: [
    Command("east", "to the east", arguments: [Argument("HARBOR", "where to", .many)]) { _ in .done },
    Command("west", "to the west", options: [Option("--far", "as far as it goes")]) { _ in .done },
  ], defaultSubcommand: "east")

private let row = Command("row", "use oars", arguments: [Argument("N", "strokes", .optional)]) { _ in .done }

@Suite struct ManPageTests {
  private let tool = Tool("boat", version: "2.0", "floats", commands: [sail, row])

  @Test func `the program's page names its commands, which have pages of their own`() async {
    let page = await tool.ran("help", "--man").output
    #expect(page.hasPrefix(".TH BOAT 1 \"\" \"boat 2.0\" \"\"\n.SH NAME\nboat \\- floats\n"))
    #expect(page.contains(".TP\n\\fBrow\\fR [\\fIN\\fR]\nuse oars\n"))
    #expect(page.hasSuffix(".SH SEE ALSO\n.BR boat\\-sail (1),\n.BR boat\\-row (1)\n"))
  }

  @Test func `a command's page has its subcommands with their options`() async {
    let page = await tool.ran("help", "--man", "sail").output
    #expect(
      page == #"""
        .TH BOAT-SAIL 1 "" "boat 2.0" ""
        .SH NAME
        boat\-sail \- go \e somewhere
        .SH SYNOPSIS
        \fBboat sail\fR [\fICOMMAND\fR] ... [\fIOPTIONS\fR]
        .SH COMMANDS
        Without a command: east.
        .TP
        \fBeast\fR [\fIHARBOR\fR...]
        to the east
        .TP
        \fBwest\fR
        to the west
        .RS
        .TP
        \fB\-\-far\fR
        as far as it goes
        .RE
        .SH OPTIONS
        .TP
        \fB\-w\fR, \fB\-\-wind\fR \fIFROM\fR
        its direction
        .SH GLOBAL OPTIONS
        .TP
        \fB\-\-color\fR \fIauto|always|never\fR
        color the output (auto: on a terminal)
        .TP
        \fB\-h\fR, \fB\-\-help\fR
        explain the command
        .SH ENVIRONMENT
        .TP
        \fBWIND\fR
        the value of \-\-wind if that is not given
        .SH NOTES
        \&.first line
        .PP
        Exit status: 0 done
        .SH SEE ALSO
        .BR boat (1)

        """#)
  }

  @Test func `a command that does not exist has no page`() async {
    #expect(await tool.ran("help", "--man", "swim").status == 2)
  }
}

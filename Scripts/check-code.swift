// Runs the code of the documentation, and compares what it prints with what the pages say.
//
// In README.md and the pages of Documentation/ a comment above a code block says what the block is:
//
//     <!-- program: NAME -->   Swift; the blocks of one name are the main.swift of one program
//     <!-- output: NAME -->    what that program prints
//     <!-- session: NAME -->   a shell session: `$ ` and `> ` begin what is typed, and all else is printed
//
// The tutorial's steps are type-checked each, and the last one of a program is run. Programs are linked with the modules
// that were built in the folder of products; nothing is built for them.
import Foundation

let root = URL(filePath: FileManager.default.currentDirectoryPath)
let files = FileManager.default
let work = root.appending(path: CommandLine.arguments[1])
let built = root.appending(path: "\(CommandLine.arguments[2])/debug").resolvingSymlinksInPath()

/// A program or a session, and what it is to print; nil where that is not said.
struct Sample {
  enum Kind { case program, step, session }
  let name: String
  let kind: Kind
  var source = ""
  var output: String?
}

func contents(of url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

func samples(ofPage url: URL) throws -> [Sample] {
  var found: [Sample] = []
  var outputs: [String: String] = [:]
  let marked = try contents(of: url).matches(
    of: /<!-- (?<kind>program|output|session): (?<name>\S+) -->\n```\w*\n(?<code>(?s:.*?))\n```/)
  for match in marked {
    let (name, code) = ("\(url.lastPathComponent): \(match.name)", String(match.code) + "\n")
    if match.kind == "output" {
      outputs[name, default: ""] += code
    } else if match.kind == "session" {
      found.append(Sample(name: name, kind: .session, source: code))
    } else if let place = found.firstIndex(where: { $0.name == name }) {
      found[place].source += "\n" + code
    } else {
      found.append(Sample(name: name, kind: .program, source: code))
    }
  }
  for place in found.indices { found[place].output = outputs[found[place].name] }
  return found
}

/// The steps of the tutorial, as Scripts/docs has written them: `live-1.swift`, `live-2.swift`, `live-output-1.txt`.
func tutorialSamples() throws -> [Sample] {
  let catalog = work.appending(path: "Quire.docc")
  let names = try files.contentsOfDirectory(atPath: catalog.path)
  var found: [Sample] = []
  for name in names.sorted() where name.hasSuffix(".swift") {
    let sample = Sample(name: name, kind: .step, source: try contents(of: catalog.appending(path: name)))
    found.append(sample)
  }
  for name in names where name.hasSuffix("-output-1.txt") {
    let program = name.dropLast("-output-1.txt".count)
    let steps = names.filter { $0.wholeMatch(of: /(?<program>[a-z]+)-\d+\.swift/)?.program == program }
    let source = try contents(of: catalog.appending(path: "\(program)-\(steps.count).swift"))
    let output = try contents(of: catalog.appending(path: name))
    found.append(Sample(name: "tutorial: \(program)", kind: .program, source: source, output: output))
  }
  let session = try contents(of: root.appending(path: "Documentation/Quire.docc/Code/production.txt"))
  let lines = session.split(separator: "\n").filter { !$0.hasPrefix("// ") }
  found.append(Sample(name: "tutorial: production", kind: .session, source: lines.joined(separator: "\n") + "\n"))
  return found
}

// MARK: Running

let options: [String] = {
  var options = ["-swift-version", "6", "-I", built.appending(path: "Modules").path]
  options += ["-load-plugin-executable", built.appending(path: "QuireMacros-tool").path + "#QuireMacros"]
  for folder in (try? files.contentsOfDirectory(at: built, includingPropertiesForKeys: nil)) ?? [] {
    let map = folder.appending(path: "module.modulemap")
    if files.fileExists(atPath: map.path) { options += ["-Xcc", "-fmodule-map-file=\(map.path)"] }
  }
  return options
}()

/// What `quire` was linked of, but for its own start: a folder of objects may hold some of files that are gone.
let objects: [String] = try contents(of: built.appending(path: "quire.product/Objects.LinkFileList"))
  .split(separator: "\n").map { $0.trimmingCharacters(in: ["'"]) }.filter { !$0.contains("/QuireCommand.build/") }

func run(_ words: [String], in folder: URL) throws -> (status: Int32, output: String) {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = words
  process.currentDirectoryURL = folder
  var environment = ProcessInfo.processInfo.environment
  environment["PATH"] = built.path + ":" + (environment["PATH"] ?? "")
  environment["HOME"] = folder.path
  process.environment = environment
  let output = folder.appending(path: ".output")
  _ = files.createFile(atPath: output.path, contents: nil)
  let handle = try FileHandle(forWritingTo: output)
  process.standardOutput = handle
  process.standardError = handle
  process.standardInput = FileHandle.nullDevice
  try process.run()
  process.waitUntilExit()
  return (process.terminationStatus, try contents(of: output))
}

/// What is wrong with a sample; nil if nothing is.
func failure(of sample: Sample) throws -> String? {
  let folder = files.temporaryDirectory.appending(path: "quire-docs-\(UUID())")
  try files.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? files.removeItem(at: folder) }
  switch sample.kind {
  case .session: return try differences(session(sample.source, in: folder), sample.source.filtered)
  case .step, .program:
    let source = folder.appending(path: "main.swift")
    try sample.source.write(to: source, atomically: true, encoding: .utf8)
    let goal = sample.kind == .step ? ["-typecheck"] : objects + ["-lsqlite3", "-o", "main"]
    let compiled = try run(["swiftc"] + options + [source.path] + goal, in: folder)
    if compiled.status != 0 { return compiled.output }
    guard sample.kind == .program else { return nil }
    let ran = try run(["./main"], in: folder)
    if ran.status != 0 { return "status \(ran.status): \(ran.output)" }
    return differences(ran.output, sample.output ?? "")
  }
}

/// Types a session into a shell and gives what is printed, prompts included.
func session(_ text: String, in folder: URL) throws -> String {
  var script = ""
  var isTyping = false
  for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
    let typed = line.dropFirst(2)
    if line.hasPrefix("$ ") {
      script += "cat <<'PROMPT'\n\(line)\nPROMPT\n\(typed)\n"
      isTyping = true
    } else if isTyping, line.hasPrefix("> ") || line == ">" {
      script += "\(typed)\n"
    } else {
      isTyping = false
    }
  }
  return try run(["bash", "-c", script], in: folder).output
}

extension String {
  /// Without what is typed after the first line of a command.
  var filtered: String {
    split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("> ") && $0 != ">" }
      .joined(separator: "\n")
  }
}

/// Times, sizes and spaces between are others at every run.
func normalized(_ text: String) -> [String] {
  text.split(separator: "\n").map { line in
    String(line).replacing(#/ +\d+(\.\d+)? (ms|s|kB)\b/#) { _ in " N" }.replacing(/\(\d+(\.\d+)? kB/) { _ in "(N" }
  }
}

func differences(_ printed: String, _ said: String) -> String? {
  normalized(printed) == normalized(said) ? nil : "it prints:\n\(printed)\nand the page says:\n\(said)"
}

// MARK: All of them

var all = try tutorialSamples()
let pages = try files.contentsOfDirectory(at: root.appending(path: "Documentation"), includingPropertiesForKeys: nil)
for page in [root.appending(path: "README.md")] + pages.sorted(by: { $0.path < $1.path })
where page.pathExtension == "md" {
  all += try samples(ofPage: page)
}
if try run(["bash", "-c", "command -v sqlite3"], in: files.temporaryDirectory).status != 0 {
  let skipped = all.filter { $0.kind == .session && $0.source.contains("$ sqlite3") }
  all.removeAll { sample in skipped.contains { $0.name == sample.name } }
  print("SKIPPED: \(skipped.map(\.name).joined(separator: ", ")): there is no sqlite3 program")
}
if let only = CommandLine.arguments.dropFirst(3).first { all = all.filter { $0.name.contains(only) } }

let lock = NSLock()
nonisolated(unsafe) var failures: [String] = []
let checked = all
DispatchQueue.concurrentPerform(iterations: checked.count) { place in
  let sample = checked[place]
  let wrong: String?
  do { wrong = try failure(of: sample) } catch { wrong = "\(error)" }
  if let wrong { lock.withLock { failures.append("\(sample.name)\n\(wrong)") } }
}
for failure in failures { print("error: \(failure)") }
print("code of the documentation: \(all.count) samples, \(failures.count) wrong")
exit(failures.isEmpty ? 0 : 1)

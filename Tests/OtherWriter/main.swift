import Foundation
import Quire

// A program that uses Quire, as a process of its own: `OtherWriter FILE` runs the statements of standard input, those from
// BEGIN to COMMIT as one commit, and prints what a line asks it to.

let database = try Database(DatabaseConfiguration(.file(CommandLine.arguments[1]), access: .readWrite))
var statements: [String] = []
var text = ""
while let line = readLine() {
  if line.hasPrefix("print ") {
    FileHandle.standardOutput.write(Data("\(line.dropFirst(6))\n".utf8))
    continue
  }
  text += line + "\n"
  if !line.hasSuffix(";") { continue }
  switch line {
  case "BEGIN IMMEDIATE;": statements.removeAll()
  case "COMMIT;":
    let commit = statements
    try database.write(origin: .sql) { transaction in
      for statement in commit { try transaction.connection.execute(statement) }
    }
  default: statements.append(text)
  }
  text = ""
}
try database.close()

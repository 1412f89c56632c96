import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireSQLite

/// A program that is killed at any moment of its writes, and another one that follows it: promise 8 of saves.
///
/// `QUIRE_SEEDS` is how often each kind is killed.
@Suite(.fewAtOnce) struct KilledWriterTests {
  private let scratch: Scratch
  private var file: String { scratch.file() }
  private let rounds = ProcessInfo.processInfo.environment["QUIRE_SEEDS"].flatMap { Int($0) } ?? 8

  init() throws { scratch = try Scratch() }

  /// A run of the program, with the numbers that it has announced and been acknowledged.
  private final class Run {
    private let process = Process()
    private let output = Pipe()
    private var rest = ""
    private(set) var lines = 0
    private(set) var begun: [String: Int] = [:]
    private(set) var done: [String: Int] = [:]

    init(_ file: String, _ how: String, _ lanes: [String]) throws {
      process.executableURL = URL(filePath: QuireProgram.path)
      process.arguments = [file, "work", how] + lanes
      process.standardOutput = output
      try process.run()
    }

    /// - Returns: false at the end.
    func read() -> Bool {
      let data = output.fileHandleForReading.availableData
      rest += String(decoding: data, as: UTF8.self)
      while let end = rest.firstIndex(of: "\n") {
        let words = rest[..<end].split(separator: " ").map(String.init)
        rest.removeSubrange(...end)
        lines += 1
        if words[0] == "?" { begun[words[1]] = Int(words[2]) } else { done[words[1]] = Int(words[2]) }
      }
      return !data.isEmpty
    }

    func kill() {
      _ = Foundation.kill(process.processIdentifier, SIGKILL)
      while read() {}
      process.waitUntilExit()
    }
  }

  @Test(arguments: ["save", "save,log", "save,short", "write", "write,log", "copy,log"])
  func `what was acknowledged is there, and nothing by halves`(how: String) throws {
    let lanes = how.hasPrefix("write") ? ["a", "b", "c", "d"] : ["a", "b"]
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = TestSupport.Random(seed: seed)
    var follower: QuireProgram?
    var (begun, done): ([String: Int], [String: Int]) = ([:], [:])
    var isUnderWay = 0
    for round in 0..<rounds {
      let run = try Run(file, how, lanes)
      let last = 1 + random.below(random.pick([2, 8, 40]))
      while run.lines < last, run.read() {}
      usleep(UInt32(random.below(random.pick([200, 2_000, 20_000]))))
      run.kill()
      begun.merge(run.begun) { $1 }
      done.merge(run.done) { $1 }
      if run.begun.contains(where: { run.done[$0.key] != $0.value }) { isUnderWay += 1 }
      let name = "\(how), seed \(seed), round \(round)"
      if follower == nil { follower = try QuireProgram(file, "follow") }
      #expect(try follower?.run("compare") == "same\n", "\(name)")
      try check(file, name)
      for lane in lanes {
        let count = try count(of: lane)
        #expect(count >= done[lane] ?? 0 && count <= max(begun[lane] ?? 0, done[lane] ?? 0), "\(name): \(lane)")
      }
      if done["copy"] != nil { try check(file + ".copy", "\(name), copy") }
    }
    #expect(isUnderWay > 0, "it was never killed in the middle of a write")
  }

  private func rows(_ sql: String, of file: String) throws -> [[Value]] {
    try Connection(path: file, access: .readWrite).rows(sql)
  }

  private func count(of lane: String) throws -> Int {
    guard case .integer(let count)? = try rows("SELECT count FROM lane WHERE name = '\(lane)'", of: file).first?.first
    else { return 0 }
    return Int(count)
  }

  private func check(_ file: String, _ name: String) throws {
    #expect(try rows("PRAGMA integrity_check", of: file) == [[.text("ok")]], "\(name)")
    #expect(try rows("PRAGMA foreign_key_check", of: file) == [], "\(name)")
    let torn = """
      SELECT name, count, (SELECT group_concat(number) FROM load WHERE lane_id = lane.id) FROM lane
      WHERE (SELECT count(*) FROM load WHERE lane_id = lane.id) <> min(count, 10)
        OR (SELECT min(number) FROM load WHERE lane_id = lane.id) <> max(count - 9, 1)
        OR (SELECT max(number) FROM load WHERE lane_id = lane.id) <> count
      UNION ALL
      SELECT number, lane_id, (SELECT count(*) FROM parcel WHERE load_id = load.id) FROM load
      WHERE lane_id IS NULL OR (SELECT count(*) FROM parcel WHERE load_id = load.id) <> 3
      UNION ALL SELECT text, id, load_id FROM parcel WHERE load_id IS NULL
      """
    #expect(try rows(torn, of: file) == [], "\(name)")
    guard try !rows("SELECT 1 FROM sqlite_schema WHERE name = '_quire_log'", of: file).isEmpty else { return }
    // Each record begins behind the one before it, and none is missing at the end.
    let gaps = """
      SELECT seq, first FROM (SELECT seq, first, lag(seq, 1, 0) OVER (ORDER BY seq) AS before FROM _quire_commits)
      WHERE first <> before + 1
      UNION ALL SELECT 'end', max(seq) FROM _quire_changes
      HAVING max(seq) <> (SELECT max(seq) FROM _quire_commits)
      """
    #expect(try rows(gaps, of: file) == [], "\(name)")
    // What a change says was there is what the change before it has left, and the last one has left what is there.
    let differences = """
      WITH change AS (
        SELECT seq, kind, old_1, old_2, old_3, new_1, new_2, new_3, coalesce(new_1, old_1) AS key
        FROM _quire_changes WHERE form = (SELECT form FROM _quire_forms WHERE table_name = 'parcel')
      ), pair AS (
        SELECT *, lag(kind) OVER w AS kind_before, lag(new_2) OVER w AS text_before, lag(new_3) OVER w AS load_before,
          lead(seq) OVER w IS NULL AS is_last
        FROM change WINDOW w AS (PARTITION BY key ORDER BY seq)
      )
      SELECT seq, kind FROM pair WHERE kind <> 'insert' AND (old_2 IS NOT text_before OR old_3 IS NOT load_before)
        OR kind = 'insert' AND kind_before IS NOT NULL AND kind_before <> 'delete'
      UNION ALL
      SELECT key, text FROM pair LEFT JOIN parcel ON key = parcel.id AND kind <> 'delete'
      WHERE is_last AND kind <> 'delete' AND (text IS NOT new_2 OR load_id IS NOT new_3)
      UNION ALL
      SELECT id, text FROM parcel WHERE id NOT IN (SELECT key FROM pair WHERE is_last AND kind <> 'delete')
      """
    #expect(try rows(differences, of: file) == [], "\(name)")
  }
}

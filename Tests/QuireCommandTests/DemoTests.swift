import Foundation
import Testing

/// `quire demo`, as it is installed: away from a clone.
@Suite struct DemoTests {
  @Test func `it runs without a person, and names the program that was started`() throws {
    let quire = try Scratch()
    let ran = try quire.shell("quire demo --file library.db")
    #expect(ran.status == 0 && ran.error.isEmpty, "\(ran)")
    #expect(ran.output.contains("    quire migrate status ") && !ran.output.contains("Scripts/"), "\(ran.output)")
    // Of 134 a cascade takes three along, and one is new.
    #expect(try quire.ask("count Book").output == "count\n132\n")
    #expect(try quire.shell("quire demo --file library.db").status == 2)
  }
}

public import Testing

/// Lets at most 24 tests of the suites that have it run at once, and 24 more of those on the main actor: others would keep
/// the places while they wait for it.
///
/// The tests of a suite start together, and one with hundreds of cases opens as many databases: with more than about
/// 1 300 open files Foundation's `Process` ends the program.
public struct FewAtOnce: SuiteTrait, TestTrait, TestScoping {
  public let isRecursive = true
  fileprivate static let places = Places(24)
  fileprivate static let placesOnMainActor = Places(24)
  fileprivate static let placesOfCompilers = Places(2)
  fileprivate let places: Places

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    await places.take()
    do {
      try await function()
    } catch {
      await places.giveBack()
      throw error
    }
    await places.giveBack()
  }
}

extension Trait where Self == FewAtOnce {
  /// At most 24 tests of all suites with this trait at once.
  public static var fewAtOnce: FewAtOnce { FewAtOnce(places: FewAtOnce.places) }
  /// For suites on the main actor: at most 24 of their tests at once.
  public static var fewOnMainActor: FewAtOnce { FewAtOnce(places: FewAtOnce.placesOnMainActor) }
  /// For suites that run the compiler, which takes a core: at most two of their tests at once.
  public static var fewCompilers: FewAtOnce { FewAtOnce(places: FewAtOnce.placesOfCompilers) }
}

private actor Places {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { free = count }

  func take() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  func giveBack() {
    if waiting.isEmpty {
      free += 1
    } else {
      waiting.removeFirst().resume()
    }
  }
}

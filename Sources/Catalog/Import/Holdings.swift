/// A made-up assignment of books to libraries: the rule behind `import --stock N`.
///
/// Returns N distinct pairs of a book and a library, the same on every machine. The generator is SplitMix64 from the
/// seed 0x5175697265 ("Quire"); every draw *x* of 64 bits picks the number ⌊*x*·*M* / 2⁶⁴⌋ among the *M* = books ×
/// libraries pairs, which is book ⌊*number* / libraries⌋ and library *number* mod libraries, both counted from 0 in the
/// order of the file; a number drawn before is drawn again. If N is more than half of *M*, the *M* − N pairs to *leave
/// out* are drawn instead, and the others are returned in ascending order.
public enum Holdings {
  public struct Pair: Hashable, Sendable {
    public let book: Int
    public let library: Int
  }

  /// - Throws: ``StockError`` if there are not enough pairs, or the count is negative.
  /// - Complexity: O(`count`), or O(books × libraries) if more than half are requested.
  public static func pairs(books: Int, libraries: Int, count: Int) throws(StockError) -> [Pair] {
    let (all, overflow) = max(0, books).multipliedReportingOverflow(by: max(0, libraries))
    guard !overflow, (0...all).contains(count) else {
      throw StockError(count: count, books: books, libraries: libraries)
    }
    func pair(_ number: Int) -> Pair { Pair(book: number / libraries, library: number % libraries) }
    if count <= all / 2 { return draw(count, below: all).map(pair) }
    let left = Set(draw(all - count, below: all))
    return (0..<all).filter { !left.contains($0) }.map(pair)
  }

  private static func draw(_ count: Int, below limit: Int) -> [Int] {
    var generator = SplitMix64(state: 0x51_75_69_72_65)
    var drawn: Set<Int> = []
    drawn.reserveCapacity(count)
    var numbers: [Int] = []
    numbers.reserveCapacity(count)
    while numbers.count < count {
      let number = Int(generator.next().multipliedFullWidth(by: UInt64(limit)).high)
      if drawn.insert(number).inserted { numbers.append(number) }
    }
    return numbers
  }
}

/// More holdings were requested than there are pairs of a book and a library.
public struct StockError: Error, Hashable, Sendable, CustomStringConvertible {
  public let count: Int
  public let books: Int
  public let libraries: Int

  public var description: String {
    "cannot put \(count) holdings of \(books) books in \(libraries) libraries: each library has a book once at most"
  }
}

/// Sebastiano Vigna's generator, <https://prng.di.unimi.it/splitmix64.c>.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

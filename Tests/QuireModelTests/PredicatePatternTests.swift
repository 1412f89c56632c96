import Quire
import TestSupport
import Testing

/// Patterns, letters, choices of nil, and parts of captured objects in predicates: the same rows as Swift's `filter`.
@Suite(.fewAtOnce) struct PredicatePatternTests {
  typealias Book = Bookshop.Book
  typealias Author = Bookshop.Author

  /// Sixty books, asked before they are saved and afterwards.
  struct Shelf {
    let context: ModelContext
    let books: [Book]
    let authors: [Author]
    let tags: [Bookshop.Tag]

    init() throws {
      context = ModelContext(try Bookshop.container())
      books = Bookshop.fill(context)
      authors = books.compactMap(\.author).reduce(into: []) { list, author in
        if !list.contains(author) { list.append(author) }
      }
      tags = books.compactMap { $0.tags?.last }
    }

    /// - Parameter isSQL: Whether nothing of the predicate is left for the objects.
    func check(
      isSQL: Bool = true, _ predicate: () -> Predicate<Book>, _ accepts: (Book) -> Bool,
      _ location: SourceLocation = #_sourceLocation
    ) throws {
      let expected = Set(books.filter(accepts).map(\.id))
      #expect(!expected.isEmpty && expected.count < books.count, "it tells books apart", sourceLocation: location)
      for _ in 0..<2 {
        let descriptor = FetchDescriptor(predicate: predicate())
        #expect(Set(try context.fetch(descriptor).map(\.id)) == expected, sourceLocation: location)
        #expect(try context.explain(descriptor).computed.isEmpty == isSQL, sourceLocation: location)
        try context.save()
      }
    }
  }

  @Test func `patterns unwrap, bind and look into tuples`() throws {
    let shelf = try Shelf()
    try shelf.check {
      #Predicate {
        switch $0.subtitle {
        case .some("A story"): true
        case .none: false
        default: $0.isAvailable
        }
      }
    } _: {
      $0.subtitle == "A story" || $0.subtitle != nil && $0.isAvailable
    }
    try shelf.check {
      #Predicate {
        switch $0.year {
        case nil: $0.isAvailable
        case let year?: year > 1930
        }
      }
    } _: {
      $0.year.map { $0 > 1930 } ?? $0.isAvailable
    }
    try shelf.check {
      #Predicate {
        switch $0.year {
        case .some(1901...1910): true
        case .some(let year) where year == 1950 || $0.pages == 60: true
        case _: false
        }
      }
    } _: { book in
      book.year.map { (1901...1910).contains($0) || $0 == 1950 || book.pages == 60 } ?? false
    }
    try shelf.check {
      #Predicate {
        switch ($0.genre, $0.pages) {
        case (.novel, 0...60), (.poem, 90): true
        case (_, let pages) where pages < 0: $0.isAvailable
        case (.essay, _): $0.year == nil
        default: false
        }
      }
    } _: {
      switch ($0.genre, $0.pages) {
      case (.novel, 0...60), (.poem, 90): true
      case (_, let pages) where pages < 0: $0.isAvailable
      case (.essay, _): $0.year == nil
      default: false
      }
    }
    try shelf.check {
      #Predicate { if case .poem = $0.genre, case let year? = $0.year { year > 1920 } else { false } }
    } _: {
      $0.genre == .poem && $0.year ?? 0 > 1920
    }
    try shelf.check {
      #Predicate {
        guard case (let title?, true) = ($0.subtitle, $0.isAvailable) else { return false }
        return title != "A story"
      }
    } _: {
      $0.isAvailable && $0.subtitle != nil && $0.subtitle != "A story"
    }
  }

  @Test func `a choice between a value and nil is an optional`() throws {
    let shelf = try Shelf()
    try shelf.check {
      #Predicate { $0.subtitle.flatMap { $0.count > 7 ? $0 : nil } == "Left out" }
    } _: {
      $0.subtitle == "Left out"
    }
    try shelf.check {
      #Predicate { ($0.isAvailable ? nil : $0.title) == "Germinal" }
    } _: {
      !$0.isAvailable && $0.title == "Germinal"
    }
    try shelf.check {
      #Predicate { ($0.isAvailable ? $0.subtitle : nil) == nil }
    } _: {
      !$0.isAvailable || $0.subtitle == nil
    }
    try shelf.check {
      #Predicate { book in (book.year.flatMap { if $0 > 1930 { $0 } else { nil } } ?? 0) > 1940 }
    } _: {
      $0.year ?? 0 > 1940
    }
  }

  @Test func `closures over the letters of a text`() throws {
    let shelf = try Shelf()
    let letters: Set<Character> = ["L", "%"]
    func check(_ predicate: () -> Predicate<Book>, _ accepts: (Book) -> Bool) throws {
      try shelf.check(isSQL: false, predicate, accepts)
    }
    try check {
      #Predicate { $0.title.contains { $0.isNumber } }
    } _: {
      $0.title.contains(where: \.isNumber)
    }
    try check {
      #Predicate { $0.title.allSatisfy { $0.isLetter } }
    } _: {
      $0.title.allSatisfy(\.isLetter)
    }
    try check {
      #Predicate { $0.title.allSatisfy { $0.isLowercase || $0 == "I" || " " == $0 } }
    } _: {
      $0.title.allSatisfy { $0.isLowercase || $0 == "I" || $0 == " " }
    }
    try check {
      #Predicate { $0.title.contains { $0 >= "0" && $0 <= "9" } }
    } _: {
      $0.title.contains { $0 >= "0" && $0 <= "9" }
    }
    try check {
      #Predicate { $0.title.contains { letters.contains($0) } }
    } _: {
      $0.title.contains(where: letters.contains)
    }
    try check {
      #Predicate { $0.title.contains { "xyŒ".contains($0) } }
    } _: {
      $0.title.contains("Œ")
    }
    try check {
      #Predicate { $0.title.filter { $0 == "e" }.count == 1 }
    } _: {
      $0.title.filter { $0 == "e" }.count == 1
    }
    try check {
      #Predicate { ($0.tags ?? []).contains { $0.word.contains { $0.isUppercase } } }
    } _: {
      ($0.tags ?? []).contains { $0.word.contains(where: \.isUppercase) }
    }
    try check {
      #Predicate { $0.title.first == ("L" as Character) }
    } _: {
      $0.title.first == "L"
    }
    try shelf.check {
      #Predicate { $0.title.contains("%" as Character) }
    } _: {
      $0.title.contains("%")
    }
  }

  @Test func `the first and last elements of a list`() throws {
    let shelf = try Shelf()
    try shelf.check(isSQL: false) {
      #Predicate { $0.words.prefix(2) == ["old", "red"] }
    } _: {
      $0.words.prefix(2) == ["old", "red"]
    }
    try shelf.check(isSQL: false) {
      #Predicate { $0.marks?.suffix(1) == [3] || $0.words.dropFirst() == [] }
    } _: {
      $0.marks?.suffix(1) == [3] || $0.words.dropFirst() == []
    }
  }

  @Test func `objects, lists and values of captured objects, looked up by index or unwrapped`() throws {
    let shelf = try Shelf()
    let (authors, tags) = (shelf.authors, shelf.tags)
    let (chosen, words, limits): (Author?, [[String]], [ClosedRange<Int>]) = (
      authors[1], [["Left", "hand"]], [30...90]
    )
    // The identifiers of what is captured are those of saved rows.
    try shelf.context.save()
    try shelf.check {
      #Predicate { ($0.tags ?? []).contains(tags[1]) }
    } _: {
      $0.tags?.contains(tags[1]) ?? false
    }
    try shelf.check {
      #Predicate { ($0.tags ?? []).contains(tags.first!) }
    } _: {
      $0.tags?.contains(tags[0]) ?? false
    }
    try shelf.check {
      #Predicate { authors[2].books.contains($0) }
    } _: {
      authors[2].books.contains($0)
    }
    try shelf.check {
      #Predicate { !chosen!.books.contains($0) }
    } _: {
      $0.author != chosen
    }
    try shelf.check {
      #Predicate { words[0].contains($0.title) }
    } _: {
      words[0].contains($0.title)
    }
    try shelf.check {
      #Predicate { words[0][1].contains($0.title) }
    } _: {
      "hand".hasPrefix($0.title)
    }
    try shelf.check {
      #Predicate { $0.title.contains(words[0][0]) }
    } _: {
      $0.title.contains("Left")
    }
    try shelf.check {
      #Predicate { limits[0].contains($0.pages) }
    } _: {
      limits[0].contains($0.pages)
    }
    let (first, second, title) = (authors[0], authors[3], "Left")
    try shelf.check {
      #Predicate { $0.author.flatMap { [first, second].contains($0) } ?? false }
    } _: {
      $0.author == first || $0.author == second
    }
    try shelf.check {
      #Predicate { [title, "hand"].contains($0.title) }
    } _: {
      ["Left", "hand"].contains($0.title)
    }
    // Neither true nor false, so that nothing is found.
    let none = FetchDescriptor<Book>(predicate: #Predicate { authors[70].books.contains($0) })
    #expect(try shelf.context.fetchCount(none) == 0)
  }
}

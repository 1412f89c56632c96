/// A flat list: one small source for each refusal, each in an enum of its own.
let refusedSources: [String] = [
  // MARK: The class
  """
  @Model struct Book {  // ✗ a struct is none: write ‘final class Book’
    var title = ""
  }
  """,
  """
  @Model actor Book {  // ✗ an actor is none: write ‘final class Book’
    var title = ""
  }
  """,
  """
  @Model enum Book {  // ✗ an enum is none: write ‘final class Book’
    case novel
  }
  """,
  """
  @Model final class Shelf<Element> {  // ✗ a generic class would be many: write a class for each kind of ‘Shelf’
    var title = ""
  }
  """,
  """
  @Model class Book { var title = "" }
  @Model final class Novel: Book {  // ✗ ‘Novel’ inherits from a model, and a row is of one class
    var plot = ""
  }
  """,
  """
  @MainActor @Model final class Book {  // ✗ remove @MainActor
    var title = ""
  }
  """,
  """
  @Observable @Model final class Book {  // ✗ remove @Observable
    var title = ""
  }
  """,
  """
  @Model final class Book {  // ✗ write ‘init(title: String, pages: Int) { … }’
    var title: String
    var year: Int?
    var pages: Int
  }
  """,

  """
  final class Book: PersistentModel {  // ✗ does not conform // ✗ conform by marking the class with @Model, never by hand
    var title = ""
  }
  """,

  // MARK: The declaration of a property
  """
  @Model final class Book {
    let next: Book?  // ✗ a reference to a model can't be constant, as it is loaded later: write ‘private(set) var’
    init() { next = nil }
  }
  """,
  """
  @Model final class Book {
    var title = "", year: Int?  // ✗ ‘title’ and ‘year’ share one declaration: write a ‘var’ for each
  }
  """,
  """
  @Model final class Book {
    var (title, year) = ("", 0)  // ✗ a stored property of a model has one name: write a ‘var’ for each
  }
  """,
  """
  @Model final class Book {
    lazy var words: [String] = []  // ✗ mark it @Transient to keep it lazy and out of the table
    unowned var last: Book  // ✗ so write ‘var last’
    init(last: Book) { self.last = last }
  }
  """,
  """
  @Model final class Book {
    #if DEBUG
      var checks = 0  // ✗ ‘checks’ is stored in some builds only
    #endif
  }
  """,
  """
  @Model final class Shelf {
    #if DEBUG
      @Relationship(deleteRule: .cascade)  // ✗ @Relationship applies to some builds only, and a table is the same in all
    #endif
    var books: [Book] = []
    #if DEBUG
      @Attribute(.unique)  // ✗ write it outside the #if
    #else
      @Transient  // ✗ @Transient applies to some builds only
    #endif
    var name = ""
    #if DEBUG
      #Unique<Shelf>([\\.name])  // ✗ #Unique applies to some builds only
      #if canImport(Foundation)
        #Index<Shelf>([\\.name])  // ✗ #Index applies to some builds only
      #endif
    #endif
    init() {}
  }
  @Model final class Book {
    var title = ""
    init() {}
  }
  """,
  """
  @Model final class Book {
    @MainActor var title = ""  // ✗ remove the actor from its declaration
  }
  """,
  """
  @Model final class Book {
    var _quireTitle = ""  // ✗ names beginning ‘_quire’ belong to @Model: call ‘_quireTitle’ something else
    var modelContext = ""  // ✗ every model has a ‘modelContext’ already
    var persistentModelID = 0  // ✗ every model has a ‘persistentModelID’ already
  }
  """,
  """
  @Model final class Book {
    var title = ""  // ✗ ‘_title’ is the name of the storage behind ‘title’: rename one of them
    var _title = ""
  }
  """,

  """
  @Model final class Book {
    var title = ""
    var pages = 0
    var title: String?  // ✗ invalid redeclaration of 'title'
  }
  """,
  """
  @Model final class Book {
    var title  // ✗ write ‘var title: String’ // ✗ type annotation missing
  }
  """,
  "@Model final class Wide {  // ✗ at most 127 stored properties, and this one has 128\n"
    + (1...128).map { "  var p\($0) = 0\n" }.joined() + "}",

  // MARK: Its type and its value
  """
  @Model final class Book {
    var onRead: (() -> Void)?  // ✗ ‘onRead’ has no column: mark it @Transient and give it a default
    var onLend: @Sendable (Int) -> Void = { _ in }  // ✗ ‘onLend’ has no column
    var onGive = { 1 }  // ✗ ‘onGive’ has no column
  }
  """,
  """
  @Model final class Book {
    var size: (Int, Int) = (1, 2)  // ✗ ‘size’ has no column: make it a Codable struct
    var place = (1, 2)  // ✗ ‘place’ has no column: make it a Codable struct
  }
  """,
  """
  @Model final class Book {
    var owner: (any Hashable)?  // ✗ so ‘owner’ has no column: name a Codable type or a @Model
    var thing: Any = 1  // ✗ so ‘thing’ has no column: name a Codable type or a @Model
  }
  """,
  """
  @Model final class Book {
    var year: Int??  // ✗ write one ‘?’
  }
  """,
  """
  @Model final class Book {
    @Attribute(originalName: "name")
    @Attribute(.unique) var title = ""  // ✗ a property has one @Attribute: write ‘@Attribute(.unique, originalName: "name")’
    var author: Author?
  }
  @Model final class Author {
    @Relationship(deleteRule: .cascade)
    @Relationship(inverse: \\Book.author) var books: [Book] = []  // ✗ write ‘@Relationship(deleteRule: .cascade, inverse: \\Book.author)’
  }
  """,
  """
  @Model final class Book {
    @Transient var note: String  // ✗ an object read from its row has no value for it: give it a default
    @ObservationIgnored var cache: [String]  // ✗ an object read from its row has no value for it: give it a default
    init() { note = ""; cache = [] }
  }
  """,

  """
  struct Plain {}
  @Model final class Book {
    var title = ""

    @Attribute(originalName: "old")
    var plain: Plain  // ✗ 'property' is unavailable: this type can't be stored: make it Codable, make it a @Model, or mark the property @Transient
    var maybe: Plain?  // ✗ 'property' is unavailable: this type can't be stored
    var many = [Plain]()  // ✗ 'property' is unavailable: this type can't be stored
    var pages: Set<Page> = []  // ✗ mark the property @Transient; a set of models is an array
    init() { plain = Plain() }
  }
  @Model final class Page { var number = 0 }
  """,
  """
  @propertyWrapper struct Published<Value> { var wrappedValue: Value }
  @propertyWrapper struct AppStorage<Value> { var wrappedValue: Value; init(wrappedValue: Value, _ key: String) { self.wrappedValue = wrappedValue } }
  @Model final class Book {
    @Published var title = ""  // ✗ every property of a model is observed, so ‘title’ needs no @Published: remove it
    @AppStorage("place") var place = 0  // ✗ mark the property @ObservationIgnored to keep the wrapper
    @Transient @AppStorage("page") var page = 0  // ✗ the property wrapper @AppStorage can't
    @ObservationIgnored @AppStorage("line") var line = 0
  }
  """,
  """
  @Model final class Book {
    var size: Measure  // ✗ cannot find type 'Measure' in scope
    var sizes: [Measure]?  // ✗ cannot find type 'Measure' in scope
    var title = ""
    init(size: Measure) { self.size = size }  // ✗ cannot find type 'Measure' in scope
  }
  """,
  """
  @Model final class Book: Codable {  // ✗ does not conform to protocol 'Decodable' // ✗ does not conform to protocol 'Encodable' // ✗ write ‘encode(to:)’ and ‘init(from:)’ in the class // ✗ does not conform to protocol 'Decodable'
    var title = ""
  }
  """,

  // MARK: Its attributes
  """
  @Model final class Book {
    @Transient @Attribute(.unique) var note = ""  // ✗ keep one of them
    @Attribute(.unique) var code: String { "" }  // ✗ ‘code’ is not a stored property, so it has no column: remove @Attribute
    @Attribute @ObservationIgnored var cache = ""  // ✗ ‘cache’ is not a stored property
  }
  """,
  """
  @Model final class Author {
    @Relationship var name: String = ""  // ✗ holds values: remove @Relationship
    @Relationship var years: [Int] = []  // ✗ holds values: remove @Relationship
    @Relationship var prizes: [String: Int] = [:]  // ✗ holds values: remove @Relationship
    @Relationship var friends: Set<Author> = []  // ✗ a to-many relationship is an array: write ‘var friends: [Author]’
  }
  """,
  """
  @Model final class Book {
    @Attribute(.ephemeral) var b: String  // ✗ an object read from its row has no value for it: give it a default
    @Relationship(.cascade) var next: Book?  // ✗ write ‘deleteRule: .cascade’
    @Relationship(.deny, inverse: \\Book.next) var last: Book?  // ✗ write ‘deleteRule: .deny’
    init() { b = "" }
  }
  """,
  """
  nonisolated(unsafe) static let path: AnyKeyPath = \\Author.name
  @Model final class Author {
    var name = ""
    @Relationship(inverse: path) var teachers: [Author] = []  // ✗ write the key path itself
    @Relationship(inverse: \\.name) var others: [Author] = []  // ✗ name it, as in // ✗ cannot infer key path
  }
  """,
  """
  struct Plain {
    @Attribute(.unique) var title = ""  // ✗ @Attribute means something in a @Model class only
    @Relationship var author = ""  // ✗ @Relationship means something in a @Model class only
    @Transient var note = ""  // ✗ @Transient means something in a @Model class only
  }
  """,
  """
  @Model final class Author { var name = "" }
  @Model final class Book {
    #Index<Author>([\\.name])  // ✗ write ‘#Index<Book>’, or move it into ‘Author’
    var title = ""
  }
  """,
  """
  @Model final class Book {
    #Index<Book>([\\.title, \\.loud])  // ✗ ‘Book’ stores no ‘loud’, and #Index is made of columns
    #Unique<Book>([\\Book.cache])  // ✗ ‘Book’ stores no ‘cache’, and #Unique is made of columns
    #Index<Book>([\\.title, \\.titel])  // ✗ name a stored property of the class // ✗ has no member 'titel'
    var title = ""
    var loud: String { title.uppercased() }
    @Transient var cache = ""
  }
  """,
  """
  @Model final class Book {
    #Unique<Book>(\\.title)  // ✗ write ‘[\\.title]’, or ‘[\\.title, \\.year]’ // ✗ cannot convert value // ✗ cannot infer
    #Index([\\.title])  // ✗ #Index names the model it is of: write ‘#Index<Book>’ // ✗ cannot infer key path type
    #Index([\\Book.title, \\.year])
    #Unique<Book>([])
    #Index<Book>(["title", .year])  // ✗ name each by its key path // ✗ name each by its key path // ✗ cannot convert // ✗ no member
    var title = ""
    var year = 0
  }
  """,
  """
  @Model final class Book {
    #Unique<Book>([\\Book.named])  // ✗ name a stored property of the class // ✗ has no member 'named'
    #FullText<Book>([\\Book.text])  // ✗ name a stored property of the class // ✗ has no member 'text'
    var title = ""
  }
  """,
  """
  @Model final class Book { var title = ""; var name: String?; var pages = 0; var sequel: Book? }
  static let joined = #Predicate<Book> { $0.name?.appending($0.title) == "" }  // ✗ ‘appending’ is called with several values of the row
  static let odd = #Predicate<Book> { $0.pages & 1 == 1 }  // ✗ ‘&’ has no meaning for rows
  static let same = #Predicate<Book> { $0.sequel === $0 }  // ✗ objects are compared with ‘==’ and ‘!=’
  static let put = #Predicate<Book> { "\\($0.pages)" == "1" }  // ✗ join texts with ‘+’, or compare the values
  static let most = #Predicate<Book> { max($0.pages, $0.pages) == 1 }  // ✗ ‘max’ is called with several values of the row
  static let counted = #Predicate<Book> { book in
    var number = 0
    number += 1  // ✗ compute the rest before it
    return book.pages > number
  }
  static let switched = #Predicate<Book> { book in
    switch (book.pages, book.title) { case let pair: pair.0 == 1 }  // ✗ match others with ‘==’
  }
  func made(_ stored: (Book) -> Bool) -> Predicate<Book> {
    #Predicate<Book>(stored)  // ✗ write ‘#Predicate { … }’
  }
  """,
  """
  @Model final class Author { var name = "" }
  @Model final class Book {
    #FullText<Author>([\\.name])  // ✗ stands in the class whose table it is of: write ‘#FullText<Book>’
    #FullText<Book>([\\.title])  // ✗ ‘Book’ has one full-text index: name all its properties in one #FullText
    var title = ""
  }
  """,
  """
  final class Book {
    #FullText<Page>([\\.text])  // ✗ #FullText means something in a @Model class only
  }
  @Model final class Page { var text = "" }
  """,
]

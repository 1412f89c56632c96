import Quire
import TestSupport
import Testing

/// `2026-11-20`: no text that it accepts is a number.
private struct Day: RawRepresentable, StoredValue, Codable, Equatable {
  let rawValue: String
  init?(rawValue: String) {
    let parts = rawValue.split(separator: "-")
    guard rawValue.utf8.count == 10, parts.map(\.utf8.count) == [4, 2, 2] else { return nil }
    self.rawValue = rawValue
  }
}

private enum State: String, Codable { case draft, live }

private struct Mark: RawRepresentable, StoredValue, Codable { var rawValue = "007" }

@Model(table: "product") private final class Product {
  var released: Day?
  var state = State.draft
  var price = 1.5
  init(_ released: Day?) { self.released = released }
}

@Model(table: "product") private final class MarkedProduct {
  var released = Mark()
  var price = Decimal(1)
  init() {}
}

/// Files as Django, SQLAlchemy, peewee and Rails make them.
@Suite struct FrameworkFileTests {
  private let file: TemporaryFile

  init() throws { file = try TemporaryFile() }

  private func make(_ statements: String...) throws -> Connection {
    var options = ConnectionOptions()
    options.trustsSchema = true  // as in other programs
    let maker = try Connection(path: file.url.path, access: .create, options: options)
    for sql in statements { try maker.execute(sql) }
    return maker
  }

  private static let product =
    "CREATE TABLE product (id INTEGER PRIMARY KEY, released date, state VARIANT NOT NULL, price decimal NOT NULL)"

  @Test func `a column of another type of text holds types with raw values that accept no number`() throws {
    let maker = try make(Self.product, "INSERT INTO product VALUES (1, '2026-11-20', 'live', '3.00')")
    let store = try ModelContainer(for: Product.self, url: file.url)
    let context = ModelContext(store)
    let product = try #require(try context.fetch(FetchDescriptor<Product>()).first)
    #expect(product.released == Day(rawValue: "2026-11-20") && product.state == .live && product.price == 3)
    product.released = Day(rawValue: "2027-01-02")
    context.insert(Product(nil))
    try context.save()
    #expect(
      try maker.query("SELECT released, state, price FROM product").rows == [
        ["2027-01-02", "live", 3], [.null, "draft", 1.5],
      ])
  }

  @Test func `a raw value that may be a number is refused there, and so is Decimal, with what fits`() throws {
    _ = try make(Self.product.replacing("state VARIANT NOT NULL", with: "state VARIANT"))
    let error = #expect(throws: SchemaError.self) { try ModelContainer(for: MarkedProduct.self, url: file.url) }
    let reason = "SQLite stores text there that looks like a number as a number"
    #expect(
      error?.differences == [
        "product.released is date, MarkedProduct.released needs TEXT: \(reason); a type with a raw value fits if it "
          + "accepts no number",
        "product.price is decimal, MarkedProduct.price needs TEXT: \(reason); a Double fits",
      ])
  }

  /// SQLite 3.40 reads no table of a file that calls a JSON function in one, unless the schema is trusted.
  @Test(arguments: [
    "CREATE TABLE note (id INTEGER PRIMARY KEY, data text CHECK (JSON_VALID(data) OR data IS NULL))",
    "CREATE TABLE note (id INTEGER PRIMARY KEY, data text, kind text AS (data ->> '$.kind'))",
    "CREATE TABLE note (id INTEGER PRIMARY KEY, data text); CREATE INDEX kinds ON note (json_extract(data, '$.kind'))",
  ])
  func `a file opens, is written and opens again whose tables call JSON functions`(sql: String) throws {
    let statements = sql.split(separator: "; ").map(String.init)
    do {
      let maker = try make(Self.product)
      for sql in statements { try maker.execute(sql) }
    }
    for log in [ChangeLog.off, .on(), .on()] {
      let store = try ModelContainer(
        for: Product.self, configurations: ModelConfiguration(url: file.url, changeLog: log))
      let context = ModelContext(store)
      context.insert(Product(nil))
      try context.save()
      try store.execute("INSERT INTO note (data) VALUES ('{\"kind\": \"a\"}')")
    }
    let reader = try ModelContainer(reading: file.url)
    #expect(try reader.value("SELECT count(*) FROM note WHERE data ->> '$.kind' = 'a'") == 3)
    #expect(try reader.value("SELECT count(*) FROM product") == 3)
  }

  /// As a deploy of Django does that adds a JSONField.
  @Test(arguments: [
    ["CREATE TABLE note (id INTEGER PRIMARY KEY, data text CHECK (json_valid(data)))"],
    ["ALTER TABLE product ADD COLUMN data text CHECK (json_valid(data) OR data IS NULL)"],
  ])
  func `a program that has the file open follows another one that adds a table with JSON functions`(
    statements: [String]
  ) throws {
    let maker = try make(Self.product)
    let store = try ModelContainer(for: Product.self, url: file.url)
    let context = ModelContext(store)
    context.insert(Product(nil))
    try context.save()
    for sql in statements { try maker.execute(sql) }
    try maker.execute("INSERT INTO product (state, price) VALUES ('live', 2)")
    #expect(try context.fetch(FetchDescriptor<Product>()).map(\.price).sorted() == [1.5, 2])
    context.insert(Product(nil))
    try context.save()
    #expect(try store.value("SELECT count(*) FROM product") == 3)
  }

  @Test func `where it has triggers too, the error says what to set, and does not speak of damage`() throws {
    let maker = try make(Self.product, "CREATE TRIGGER told AFTER INSERT ON product BEGIN SELECT 1; END")
    let store = try ModelContainer(for: Product.self, url: file.url)
    let context = ModelContext(store)
    try maker.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, data text CHECK (json_valid(data)))")
    for _ in 0..<2 {
      context.insert(Product(nil))
      do {
        try context.save()
      } catch {
        #expect("\(error)".contains("Set trustsSchema in the configuration") && !"\(error)".contains("damaged"))
        context.rollback()
      }
    }
    try maker.execute("DROP TABLE note")
    context.insert(Product(nil))
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Product>()) >= 1)
  }

  @Test func `one with views of its own opens where its schema is trusted, and else the error says so`() throws {
    _ = try make(
      Self.product, "CREATE TABLE note (id INTEGER PRIMARY KEY, data text CHECK (json_valid(data)))",
      "CREATE VIEW notes AS SELECT * FROM note")
    var configuration = ModelConfiguration(url: file.url)
    do {
      _ = try ModelContainer(for: Product.self, configurations: configuration)
    } catch {
      #expect("\(error)".contains("unsafe use of") && "\(error)".contains("Set trustsSchema in the configuration"))
    }
    configuration.trustsSchema = true
    let store = try ModelContainer(for: Product.self, configurations: configuration)
    #expect(try store.value("SELECT count(*) FROM notes") == 0)
  }
}

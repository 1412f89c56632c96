import Quire
import TestSupport
import Testing

/// A second row with a unique value is an error, never a silent replacement.
@Suite(.fewAtOnce) struct UniqueTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try ModelContainer(
      for: Account.self, Handle.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store)
    context.insert(Account("ada@example.org", zone: "a", number: 1))
    try context.save()
  }

  @Test func `the error names model, property and value`() throws {
    context.insert(Account("bob@example.org", zone: "a", number: 2))
    context.insert(Account("ada@example.org", zone: "a", number: 3))
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .notUnique("Account", ["email"], ["'ada@example.org'"])? = error else { throw error! }
    #expect(try store.value("SELECT count(*) FROM account") == 1)
    #expect(context.insertedModelsArray.count == 2)
  }

  @Test func `it names all properties of a set, each with its own value`() throws {
    context.insert(Account("bob@example.org", zone: "a", number: 1))
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .notUnique("Account", let names, let values)? = error else { throw error! }
    #expect(Dictionary(uniqueKeysWithValues: zip(names, values)) == ["zone": "'a'", "number": "1"])
  }

  @Test func `of an index on an expression it names the properties that this reads`() throws {
    try store.execute("CREATE UNIQUE INDEX account_key ON account (lower(email), number + 1)")
    context.insert(Account("ADA@example.org", zone: "z", number: 1))
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .notUnique("Account", let names, let values)? = error else { throw error! }
    #expect(Dictionary(uniqueKeysWithValues: zip(names, values)) == ["email": "'ADA@example.org'", "number": "1"])
  }

  @Test func `two new objects with the same value clash too`() throws {
    context.insert(Account("new@example.org", zone: "b", number: 1))
    context.insert(Account("new@example.org", zone: "c", number: 1))
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .notUnique("Account", ["email"], ["'new@example.org'"])? = error else { throw error! }
  }

  @Test(arguments: [2, 3, 10, 11, 300], [nil, "c", "c0"] as [String?])
  func `of many new objects the error names the value that clashes`(count: Int, others: String?) throws {
    context.insert(Handle("c0"))
    try context.save()
    for number in 0..<count {
      let isClash = number == count / 3 || number == count - 1
      context.insert(Handle(isClash ? "k" : others.map { number == 0 ? $0 : "\($0)\(number)" }))
    }
    if others == "c0", count > 2 { try store.execute("DELETE FROM handle") }
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .notUnique("Handle", ["code"], ["'k'"])? = error else { throw error! }
    #expect(context.insertedModelsArray.count == count)
  }

  @Test func `a value is free once its row is deleted in the same save`() throws {
    let old = try #require(try context.all(Account.self).first)
    context.delete(old)
    let new = Account("ada@example.org", zone: "a", number: 1)
    context.insert(new)
    try context.save()
    #expect(try store.query("SELECT id, email FROM account").map(\.values) == [[2, "ada@example.org"]])
    #expect(new.persistentModelID.rowKey == 2 && old.isDeleted && !context.hasChanges)
  }

  @Test func `a value is free once its row is edited in the same save`() throws {
    let old = try #require(try context.all(Account.self).first)
    let new = Account("ada@example.org", zone: "z", number: 1)
    new.parent = old
    context.insert(new)
    old.email = "ada2@example.org"
    old.parent = new
    try context.save()
    #expect(
      try store.query("SELECT email, parent_id FROM account ORDER BY id").map(\.values) == [
        ["ada2@example.org", 2], ["ada@example.org", 1],
      ])
  }

  @Test func `an edit that takes another row's value is refused, and stays an edit`() throws {
    let bob = Account("bob@example.org", zone: "b", number: 1)
    context.insert(bob)
    try context.save()
    bob.email = "ada@example.org"
    #expect(throws: ModelError.self) { try context.save() }
    #expect(bob.email == "ada@example.org" && bob.hasChanges)
    context.rollback()
    #expect(bob.email == "bob@example.org")
  }

  @Test func `a new object with a taken value stays pending, and later saves are refused, until it gives way`() throws {
    let ada = try #require(try context.fetch(FetchDescriptor<Account>()).first)
    let ways: [(Account) -> Void] = [
      { context.delete($0) }, { $0.email = "bob@example.org" }, { _ in context.rollback() },
      { _ in context.onUniqueConflict = .upsert },
    ]
    for (index, takeWayOut) in ways.enumerated() {
      let another = Account("ada@example.org", zone: "b", number: index)
      context.insert(another)
      #expect(throws: ModelError.self) { try context.save() }
      ada.zone = "later \(index)"
      #expect(throws: ModelError.self) { try context.save() }
      #expect(context.insertedModelsArray.count == 1)
      takeWayOut(another)
      try context.save()
    }
    #expect(try context.fetch(FetchDescriptor<Account>()).map(\.email) == ["ada@example.org", "bob@example.org"])
    #expect(ada.zone == "b" && ada.number == 3)
  }
}

@Model final class Handle {
  @Attribute(.unique) var code: String?
  init(_ code: String?) { self.code = code }
}

@Model final class Account {
  #Unique<Account>([\.number, \.zone])
  var zone: String
  var number: Int
  @Attribute(.unique) var email: String
  var parent: Account?
  init(_ email: String, zone: String, number: Int) {
    self.email = email
    self.zone = zone
    self.number = number
  }
}

import OwnNames
import Quire
import Testing

/// Names of another module's models, used without that module's name beside `import Quire`.
struct OwnNameTests {
  @Test func `another module's Moment, Value, Link, Record and Transaction are its own`()
    throws
  {
    let container = try ModelContainer(
      for: Moment.self, Link.self, Subscription.self, Connection.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let value = Value(3)
    value.moments = [Moment("first"), Moment("second")]
    let owner = Owner("Ann")
    owner.links = [Link(URL(string: "https://example.org")!)]
    owner.subscription = Subscription()
    owner.subscription?.transactions = [Transaction(date: .now, amount: 3)]
    owner.subscription?.transactions[0].record = Record()
    context.insert(value)
    context.insert(owner)
    context.insert(Connection())
    try context.save()

    let read = ModelContext(container)
    let moments = try read.fetch(FetchDescriptor<Moment>(sortBy: [SortDescriptor(\.title)]))
    #expect(moments.map(\.title) == ["first", "second"])
    #expect(try read.fetchCount(FetchDescriptor<Link>(predicate: #Predicate { $0.owner?.name == "Ann" })) == 1)
    #expect(try read.fetch(FetchDescriptor<Owner>())[0].subscription?.transactions[0].record != nil)
    #expect(try read.fetchCount(FetchDescriptor<Value>(predicate: #Predicate { $0.amount > 2 })) == 1)
    let types: [any PersistentModel.Type] = [
      Slot.self, Token.self, Store.self, Entity.self, Property.self, Query.self, Statement.self, Commit.self,
      Change.self,
      Row.self, Column.self, Group.self, Section.self, Category.self, Item.self, Event.self, Session.self,
    ]
    #expect(Schema(types).entities.count == types.count)
  }
}

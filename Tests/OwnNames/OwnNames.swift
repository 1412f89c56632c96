import Quire

// Models of another module, called as types inside Quire are, or as public programs call theirs.

@Model public final class Moment {
  public var title = ""
  public var value: Value?
  public init(_ title: String) { self.title = title }
}

@Model public final class Value {
  public var amount = 0.0
  @Relationship(deleteRule: .cascade, inverse: \Moment.value) public var moments: [Moment] = []
  public init(_ amount: Double) { self.amount = amount }
}

@Model public final class Link {
  public var url: URL
  public var owner: Owner?
  public init(_ url: URL, owner: Owner? = nil) {
    self.url = url
    self.owner = owner
  }
}

@Model public final class Owner {
  @Attribute(.unique) public var id = UUID()
  public var name: String
  public var links: [Link] = []
  public var subscription: Subscription?
  public init(_ name: String) { self.name = name }
}

@Model public final class Subscription {
  public var isActive = true
  public var transactions: [Transaction] = []
  public init() {}
}

@Model public final class Transaction {
  public var date: Date
  public var amount: Decimal
  public var record: Record?
  public init(date: Date, amount: Decimal) {
    self.date = date
    self.amount = amount
  }
}

@Model public final class Record {
  public var text = ""
  public init() {}
}

@Model public final class Connection {
  public var isOpen = false
  public init() {}
}

@Model public final class Slot {
  public var name = ""
  public init() {}
}

@Model public final class Token {
  public var name = ""
  public init() {}
}

@Model public final class Store {
  public var name = ""
  public init() {}
}

@Model public final class Entity {
  public var name = ""
  public init() {}
}

@Model public final class Property {
  public var name = ""
  public init() {}
}

@Model public final class Query {
  public var name = ""
  public init() {}
}

@Model public final class Statement {
  public var name = ""
  public init() {}
}

@Model public final class Commit {
  public var name = ""
  public init() {}
}

@Model public final class Change {
  public var name = ""
  public init() {}
}

@Model public final class Row {
  public var name = ""
  public init() {}
}

@Model public final class Column {
  public var name = ""
  public init() {}
}

@Model public final class Group {
  public var name = ""
  public init() {}
}

@Model public final class Section {
  public var name = ""
  public init() {}
}

@Model public final class Category {
  public var name = ""
  public init() {}
}

@Model public final class Item {
  public var name = ""
  public init() {}
}

@Model public final class Event {
  public var name = ""
  public init() {}
}

@Model public final class Session {
  public var name = ""
  public init() {}
}

import Quire

// One model for each kind of relationship and delete rule.

@Model final class Person {
  var name: String
  var passport: Passport?
  @Relationship(inverse: \Desk.user) var desk: Desk?
  init(_ name: String) { self.name = name }
}

/// The required side of a one-to-one.
@Model final class Passport {
  var number: String
  var owner: Person
  init(_ number: String, owner: Person) {
    self.number = number
    self.owner = owner
  }
}

@Model final class Desk {
  var name: String
  var user: Person?
  init(_ name: String) { self.name = name }
}

@Model final class Node {
  var name: String
  var parent: Node?
  @Relationship(deleteRule: .cascade, inverse: \Node.parent) var children: [Node] = []
  init(_ name: String) { self.name = name }
}

@Model final class Album {
  var name: String
  var tracks: [Track] = []
  init(_ name: String) { self.name = name }
}

@Model final class Track {
  var name: String
  var album: Album
  init(_ name: String, album: Album) {
    self.name = name
    self.album = album
  }
}

@Model final class Shop {
  var name: String
  @Relationship(deleteRule: .deny) var items: [Item] = []
  init(_ name: String) { self.name = name }
}

@Model final class Item {
  var name: String
  var shop: Shop?
  init(_ name: String) { self.name = name }
}

@Model final class House {
  enum Kind: String, Codable, CaseIterable { case hut, palace }
  enum Roof: String, Codable { case thatch, slate }
  enum Wall: Codable { case clay, stone }
  var name: String
  var floors = 2
  var kind: Kind
  var roof: Roof
  var walls: Wall
  @Relationship(deleteRule: .noAction, inverse: \Haunt.house) var haunts: [Haunt] = []
  init(_ name: String) {
    self.name = name
    kind = .palace
    roof = .slate
    walls = .stone
  }
}

@Model final class Haunt {
  var name: String
  var house: House
  init(_ name: String, house: House) {
    self.name = name
    self.house = house
  }
}

@Model final class Label {
  var name: String
  var bottles: [Bottle] = []
  init(_ name: String) { self.name = name }
}

@Model final class Bottle {
  var name: String
  @Relationship(inverse: \Label.bottles) var labels: [Label] = []
  init(_ name: String) { self.name = name }
}

import Quire
import TestSupport
import Testing

/// Both sides in step, in memory before a save and in the file after.
@Suite(.fewAtOnce) struct RelationshipTests {
  static func store() throws -> ModelContainer {
    try ModelContainer(
      for: Person.self, Passport.self, Node.self, Album.self, Track.self, Shop.self, Item.self, House.self, Haunt.self,
      Label.self, Bottle.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try Self.store()
    context = ModelContext(store)
  }

  @Test func `assigning a to-one moves the object from list to list`() throws {
    let (a, b, leaf) = (Node("a"), Node("b"), Node("leaf"))
    for node in [a, b, leaf] { context.insert(node) }
    try context.save()
    #expect(a.children.isEmpty && b.children.isEmpty)
    leaf.parent = a
    #expect(a.children.first === leaf)
    leaf.parent = b
    #expect(a.children.isEmpty && b.children.first === leaf)
    b.children = []
    #expect(leaf.parent == nil)
    a.children.append(leaf)
    #expect(leaf.parent === a)
    try context.save()
    #expect(try store.query("SELECT parent_id FROM node WHERE name = 'leaf'").map(\.values) == [[1]])
  }

  /// What has stayed at the beginning of a list, what has moved, come and gone, and what stands in the assignment twice.
  @Test(
    arguments: [
      "abcd", "abc", "bcd", "ab", "abcde", "eabcd", "abecd", "abca", "abcda", "aabbccdd", "dcba", "dcbae", "eeabcd",
      "e", "",
      "abdc", "abcdee", "bbb",
    ], [true, false])
  func `a list has what was assigned to it, each once`(letters: String, isSaved: Bool) throws {
    let (parent, label) = (Node("parent"), Label("label"))
    context.insert(parent)
    context.insert(label)
    var (nodes, bottles): ([Character: Node], [Character: Bottle]) = ([:], [:])
    for letter in "abcde" {
      (nodes[letter], bottles[letter]) = (Node("\(letter)"), Bottle("\(letter)"))
      if let node = nodes[letter], let bottle = bottles[letter] {
        context.insert(node)
        context.insert(bottle)
      }
    }
    parent.children = "abcd".compactMap { nodes[$0] }
    label.bottles = "abcd".compactMap { bottles[$0] }
    if isSaved { try context.save() }
    parent.children = letters.compactMap { nodes[$0] }
    label.bottles = letters.compactMap { bottles[$0] }
    let wanted = Set(letters).sorted().map { "\($0)" }
    for _ in 0..<2 {
      #expect(parent.children.map(\.name).sorted() == wanted && label.bottles.map(\.name).sorted() == wanted)
      for letter in "abcde" {
        #expect((nodes[letter]?.parent === parent) == letters.contains(letter))
        #expect(bottles[letter]?.labels.map(\.name) == (letters.contains(letter) ? ["label"] : []))
      }
      try context.save()
    }
    let other = ModelContext(store)
    let names = try other.fetch(FetchDescriptor<Label>()).first?.bottles.map(\.name).sorted()
    #expect(names == wanted)
  }

  @Test func `a tree of one model, both ways, and its cascade`() throws {
    let root = Node("root")
    root.children = [Node("1"), Node("2")]
    root.children[0].children = [Node("11")]
    context.insert(root)
    try context.save()
    let fresh = ModelContext(store)
    let again = try #require(try fresh.fetch(FetchDescriptor<Node>(predicate: #Predicate { $0.parent == nil })).first)
    #expect(again.children.map(\.name) == ["1", "2"])
    #expect(again.children[0].children[0].parent?.parent === again)
    fresh.delete(again.children[0])
    try fresh.save()
    #expect(try store.query("SELECT name FROM node ORDER BY id").map(\.values) == [["root"], ["2"]])
    #expect(again.children.map(\.name) == ["2"])
  }

  @Test func `one to one: the side that must have a value has the column, and both sides read`() throws {
    let ada = Person("Ada")
    let passport = Passport("P1", owner: ada)
    context.insert(passport)
    #expect(ada.passport === passport)
    try context.save()
    #expect(try store.query("SELECT owner_id FROM passport").map(\.values) == [[1]])
    let fresh = ModelContext(store)
    let person = try #require(try fresh.all(Person.self).first)
    #expect(person.passport?.number == "P1")
    #expect(person.passport?.owner === person)
    #expect(try fresh.all(Person.self).first?.passport === person.passport)
    let found = fresh.model(Person.self, key: 1)
    #expect(found?.passport?.number == "P1")
  }

  @Test func `one to one: who gets the other takes it from who had it`() throws {
    let (a, b) = (Person("a"), Person("b"))
    let (desk, other) = (Desk("desk"), Desk("other"))
    for person in [a, b] { context.insert(person) }
    a.desk = desk
    try context.save()
    #expect(desk.user === a)
    b.desk = desk
    #expect(a.desk == nil && desk.user === b)
    other.user = b
    context.insert(other)
    #expect(b.desk === other && desk.user == nil)
    desk.user = a
    #expect(a.desk === desk)
    try context.save()
    let fresh = ModelContext(store)
    #expect(try fresh.all(Person.self).map { $0.desk?.name } == ["desk", "other"])
  }

  @Test func `one to one: an object that was inserted with its other side keeps it, whichever side was given`() throws {
    let person = Person("Ada")
    person.desk = Desk("desk")
    context.insert(person)
    let desk = Desk("second")
    desk.user = Person("Bob")
    context.insert(desk)
    #expect(person.desk?.user === person && desk.user?.desk === desk)
    try context.save()
    let fresh = ModelContext(store)
    #expect(try fresh.all(Desk.self).map { $0.user?.name } == ["Ada", "Bob"])
  }

  @Test func `many to many: linked and unlinked from either side`() throws {
    let (red, blue) = (Label("red"), Label("blue"))
    let bottle = Bottle("b")
    bottle.labels = [red]
    context.insert(bottle)
    context.insert(blue)
    try context.save()
    blue.bottles = [bottle]
    #expect(bottle.labels.map(\.name) == ["red", "blue"])
    bottle.labels.removeAll { $0 === red }
    #expect(red.bottles.isEmpty)
    try context.save()
    #expect(try store.query("SELECT bottle_id, label_id FROM bottle_labels").map(\.values) == [[1, 2]])
    bottle.labels = [red, blue, red]
    bottle.labels = [blue]
    #expect(!red.hasChanges)
    try context.save()
    #expect(try store.query("SELECT bottle_id, label_id FROM bottle_labels").map(\.values) == [[1, 2]])
    let fresh = ModelContext(store)
    #expect(try fresh.all(Label.self).map { $0.bottles.count } == [0, 1])
  }

  @Test func `the other side of a many to many hears of a deletion, loaded or not`() throws {
    let bottle = Bottle("b")
    bottle.labels = [Label("red"), Label("blue")]
    context.insert(bottle)
    try context.save()
    let fresh = ModelContext(store)
    let again = try #require(try fresh.all(Bottle.self).first)
    #expect(again.labels.count == 2)
    let heard = tracking { _ = again.labels }
    let red = try #require(again.labels.first)
    fresh.delete(red)
    #expect(again.labels.map(\.name) == ["blue"])
    #expect(heard.count == 1)
    fresh.rollback()
    #expect(again.labels.map(\.name) == ["red", "blue"])
    fresh.delete(red)
    try fresh.save()
    #expect(again.labels.map(\.name) == ["blue"])
  }

  @Test func `nullify: who referred to a deleted object refers to nothing, here and elsewhere`() throws {
    let person = Person("Ada")
    person.desk = Desk("desk")
    context.insert(person)
    try context.save()
    let other = ModelContext(store)
    let theirs = try #require(try other.all(Person.self).first)
    #expect(theirs.desk?.name == "desk")
    context.delete(try #require(person.desk))
    try context.save()
    #expect(!person.isDeleted && person.desk == nil && !person.hasChanges)
    #expect(try store.query("SELECT desk_id FROM person").map(\.values) == [[nil]])
    try other.refresh()
    #expect(theirs.desk == nil)
  }

  @Test func `deny: refused by name while there are any, and done once they are gone, in one save`() throws {
    let shop = Shop("shop")
    shop.items = [Item("a"), Item("b")]
    context.insert(shop)
    try context.save()
    context.delete(shop)
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .relationshipRefused(let text)? = error else { throw error! }
    #expect(text.contains("Shop 1") && text.contains("items") && text.contains("2"))
    #expect(try store.value("SELECT count(*) FROM shop") == 1)
    for item in try context.all(Item.self) { context.delete(item) }
    try context.save()
    #expect(try store.value("SELECT count(*) FROM shop") == 0)
  }

  @Test func `a required reference refuses its target's deletion, and a value of nothing`() throws {
    let album = Album("album")
    let track = Track("track", album: album)
    context.insert(track)
    try context.save()
    context.delete(album)
    let refused = #expect(throws: ModelError.self) { try context.save() }
    #expect(refused.map { "\($0)" }?.contains("Album 1 was not deleted") == true)
    context.rollback()
    album.tracks = []
    let missing = #expect(throws: ModelError.self) { try context.save() }
    #expect(missing.map { "\($0)" }?.contains("Track.album must have a value") == true)
    context.rollback()
    #expect(track.album === album)
    context.delete(album)
    context.delete(track)
    try context.save()
    #expect(try store.value("SELECT count(*) FROM album") == 0)
  }

  @Test func `a required reference to a row that is gone gives a vacant object with its key`() throws {
    let house = House("old")
    house.haunts = [Haunt("ghost", house: house)]
    context.insert(house)
    try context.save()
    let fresh = ModelContext(store)
    let ghost = try #require(try fresh.all(Haunt.self).first)
    try store.execute("DELETE FROM house")
    try fresh.refresh()
    let vacant = ghost.house
    #expect(vacant.isDeleted && vacant.name == "" && vacant.floors == 2 && vacant.kind == .hut)
    #expect(vacant.roof == .thatch && vacant.walls == .clay)
    #expect(vacant.persistentModelID == house.persistentModelID)
    #expect(vacant.haunts.isEmpty)
    vacant.name = "assignments are ignored"
    #expect(vacant.name == "")
    #expect(throws: ModelError.self) { try fresh.save() }
    try fresh.save()
    #expect(try store.value("SELECT house_id FROM haunt") == 1)
  }

  @Test func `a link to a row that is gone is refused by name`() throws {
    let node = Node("child")
    let parent = Node("parent")
    context.insert(node)
    context.insert(parent)
    try context.save()
    node.parent = parent
    try store.execute("DELETE FROM node WHERE name = 'parent'")
    let error = #expect(throws: ModelError.self) { try context.save() }
    #expect(error.map { "\($0)" }?.contains("Node.parent refers to Node 2, which is not there") == true)
    node.parent = nil
    try context.save()
  }

  @Test func `an object that was deleted before it was ever saved is written nowhere`() throws {
    let (item, bottle) = (Item("item"), Bottle("bottle"))
    context.insert(item)
    try context.save()
    let (shop, label) = (Shop("shop"), Label("label"))
    item.shop = shop
    bottle.labels = [label]
    context.insert(bottle)
    context.delete(shop)
    context.delete(label)
    try context.save()
    #expect(item.shop == nil && bottle.labels.isEmpty && shop.isDeleted)
    #expect(try store.query("SELECT shop_id FROM item").map(\.values) == [[nil]])
    #expect(try store.value("SELECT (SELECT count(*) FROM shop) + (SELECT count(*) FROM label)") == 0)

    let album = Album("album")
    context.insert(Track("track", album: album))
    context.delete(album)
    let error = #expect(throws: ModelError.self) { try context.save() }
    #expect(error.map { "\($0)" }?.contains("Track.album must have a value") == true)
  }

  @Test func `a child that moved away is not taken by its old parent's cascade`() throws {
    let (a, b) = (Node("a"), Node("b"))
    a.children = [Node("child")]
    context.insert(a)
    context.insert(b)
    try context.save()
    let child = a.children[0]
    child.parent = b
    context.delete(a)
    try context.save()
    #expect(!child.isDeleted && child.parent === b)
    #expect(
      try store.query("SELECT name, parent_id FROM node ORDER BY name").map(\.values) == [
        ["b", nil], ["child", .integer(b.persistentModelID.rowKey ?? 0)],
      ])
  }

  @Test func `objects of another context are refused, by name, and the save says so`() throws {
    let other = ModelContext(store)
    let theirs = Node("theirs")
    other.insert(theirs)
    let mine = Node("mine")
    context.insert(mine)
    mine.parent = theirs
    #expect(mine.parent == nil)
    let error = #expect(throws: ModelError.self) { try context.save() }
    #expect(error.map { "\($0)" }?.contains("Node.parent was given an object of another context") == true)
    try context.save()
    context.insert(theirs)
    #expect(theirs.modelContext === other)
    #expect(throws: ModelError.self) { try context.save() }
  }

  @Test func `an object that is deleted while its links are assigned has none, and the save names the assignment`()
    throws
  {
    let (bottle, labels) = (Bottle("red"), [Label("a"), Label("b")])
    bottle.labels = [labels[0]]
    context.insert(bottle)
    context.insert(labels[1])
    try context.save()
    #expect(bottle.labels.count == 1 && labels[1].bottles.isEmpty)
    let token = bottle.onWillChange { if !$0.vanishes { context.delete(bottle) } }
    bottle.labels = labels
    #expect(bottle.isDeleted && labels[1].bottles.isEmpty)
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .ignoredAssignments(let names)? = error else { throw try #require(error) }
    #expect(names.count == 1 && names[0].contains("Bottle.labels of "))
    try context.save()
    #expect(try store.value("SELECT (SELECT count(*) FROM bottle) + (SELECT count(*) FROM label)") == 2)
    _ = token
  }
}

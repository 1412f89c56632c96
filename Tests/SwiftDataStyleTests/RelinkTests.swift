import Quire
import Testing

private enum MenuV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Dish.self, Course.self, Photo.self] }

  @Model final class Dish {
    var name: String
    var course: Course?
    @Relationship(deleteRule: .cascade, inverse: \Photo.dish) var photo: Photo?
    init(_ name: String) { self.name = name }
  }

  @Model final class Course {
    var name: String
    @Relationship(inverse: \Dish.course) var dishes: [Dish] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Photo {
    var file: String
    var dish: Dish?
    init(_ file: String) { self.file = file }
  }
}

/// A dish belongs to several courses, and it is the photo that names the inverse, so that it has the column.
private enum MenuV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Dish.self, Course.self, Photo.self] }

  @Model final class Dish {
    var name: String
    var courses: [Course] = []
    @Relationship(deleteRule: .cascade) var photo: Photo?
    init(_ name: String) { self.name = name }
  }

  @Model final class Course {
    var name: String
    @Relationship(inverse: \Dish.courses) var dishes: [Dish] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Photo {
    var file: String
    @Relationship(inverse: \Dish.photo) var dish: Dish?
    init(_ file: String) { self.file = file }
  }
}

private enum StaffV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Member.self, Duty.self] }

  @Model final class Member {
    var name: String
    var chief: Member?
    @Relationship(inverse: \Member.chief) var staff: [Member] = []
    @Relationship(inverse: \Duty.owner) var duties: [Duty] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Duty {
    var name: String
    var owner: Member?
    init(_ name: String) { self.name = name }
  }
}

/// A member may have several chiefs, and the owner has another name, which only the other side tells.
private enum StaffV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Member.self, Duty.self] }

  @Model final class Member {
    var name: String
    var chiefs: [Member] = []
    @Relationship(inverse: \Member.chiefs) var staff: [Member] = []
    @Relationship(inverse: \Duty.holder) var duties: [Duty] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Duty {
    var name: String
    var holder: Member?
    init(_ name: String) { self.name = name }
  }
}

/// Relationships that a newer version stores elsewhere: a column in the other table, or a table of pairs.
@Suite struct RelinkTests {
  private enum Plan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [MenuV1.self, MenuV2.self] }
    static var stages: [MigrationStage] { [] }
  }

  @Test func `objects stay related when the relationship is stored elsewhere`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-relinks-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let configuration = ModelConfiguration(url: folder.appending(path: "menu.store"))
    do {
      let context = ModelContext(
        try ModelContainer(for: Schema(versionedSchema: MenuV1.self), configurations: configuration))
      let (starters, mains) = (MenuV1.Course("starters"), MenuV1.Course("mains"))
      for (name, course) in [("soup", starters), ("salad", starters), ("pie", mains), ("jam", nil)] {
        let dish = MenuV1.Dish(name)
        context.insert(dish)
        dish.course = course
        dish.photo = name == "salad" ? nil : MenuV1.Photo("\(name).jpg")
      }
      try context.save()
      #expect(try context.container.query("SELECT count(photo_id) FROM dish").first?["count(photo_id)"] == 3)
    }
    let container = try ModelContainer(
      for: Schema(versionedSchema: MenuV2.self), migrationPlan: Plan.self, configurations: configuration)
    let context = ModelContext(container)
    let dishes = try context.fetch(FetchDescriptor<MenuV2.Dish>(sortBy: [SortDescriptor(\.name)]))
    #expect(dishes.map(\.name) == ["jam", "pie", "salad", "soup"])
    #expect(dishes.map { $0.courses.map(\.name) } == [[], ["mains"], ["starters"], ["starters"]])
    #expect(dishes.map { $0.photo?.file } == ["jam.jpg", "pie.jpg", nil, "soup.jpg"])
    let courses = try context.fetch(FetchDescriptor<MenuV2.Course>(sortBy: [SortDescriptor(\.name)]))
    #expect(courses.map { Set($0.dishes.map(\.name)) } == [["pie"], ["salad", "soup"]])
    #expect(try container.query("SELECT count(dish_id) FROM photo").first?["count(dish_id)"] == 3)
    #expect(try container.query("SELECT 1 FROM sqlite_schema WHERE name LIKE '%quire_pairs%'").isEmpty)
  }
  @Test func `a model related to itself keeps who is on which side, and a column its pairs under another name`() throws
  {
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [StaffV1.self, StaffV2.self] }
      static var stages: [MigrationStage] { [.lightweight(fromVersion: StaffV1.self, toVersion: StaffV2.self)] }
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-relinks-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let configuration = ModelConfiguration(url: folder.appending(path: "staff.store"))
    do {
      let context = ModelContext(
        try ModelContainer(for: Schema(versionedSchema: StaffV1.self), configurations: configuration))
      let members = ["a", "b", "c"].map(StaffV1.Member.init)
      for member in members { context.insert(member) }
      (members[1].chief, members[2].chief) = (members[0], members[0])
      members[2].duties = [StaffV1.Duty("x"), StaffV1.Duty("y")]
      context.insert(StaffV1.Duty("z"))
      try context.save()
    }
    let context = ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: StaffV2.self), migrationPlan: Plan.self, configurations: configuration))
    let members = try context.fetch(FetchDescriptor<StaffV2.Member>(sortBy: [SortDescriptor(\.name)]))
    #expect(members.map { $0.chiefs.map(\.name) } == [[], ["a"], ["a"]])
    #expect(members.map { $0.staff.map(\.name) } == [["b", "c"], [], []])
    let duties = try context.fetch(FetchDescriptor<StaffV2.Duty>(sortBy: [SortDescriptor(\.name)]))
    #expect(duties.map { $0.holder?.name } == ["c", "c", nil])
  }
}

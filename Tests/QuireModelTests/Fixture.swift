import Quire

@Model final class Writer {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Volume.writer) var volumes: [Volume] = []
  var contributed: [Volume] = []
  init(name: String) { self.name = name }
}

@Model final class Volume {
  var title: String
  var year: Int?
  var price: Double = 0
  var isIn = true
  var writer: Writer?
  @Relationship(inverse: \Writer.contributed) var contributors: [Writer] = []
  init(_ title: String, year: Int? = nil, writer: Writer? = nil) {
    self.title = title
    self.year = year
    self.writer = writer
  }
}

func store() throws -> ModelContainer {
  try ModelContainer(for: Writer.self, Volume.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
}

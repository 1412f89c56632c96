import Quire
import Testing

/// A model of a hundred properties is kept, merged and compared like one of ten.
@Suite @MainActor struct SurveyTests {
  private func container() throws -> ModelContainer {
    try ModelContainer(
      for: Survey.self, Site.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  @Test func `the first and the last properties are edited, found and sorted by`() throws {
    let context = try container().mainContext
    let site = Site(name: "North")
    for number in 1...5 {
      let survey = Survey(sheet: "s\(number)")
      survey.answer1 = number
      survey.answer95 = -number
      survey.answer90 = 9 - number
      survey.site = site
      context.insert(survey)
    }
    try context.save()
    let found = try context.fetch(FetchDescriptor.of(site: "North").limited(to: 2))
    #expect(found.map(\.sheet) == ["s5", "s4"])
    #expect(try context.fetchCount(FetchDescriptor<Survey>(predicate: #Predicate { $0.answer95 == -3 })) == 1)
    found[0].answer95 = nil
    found[0].comments = ["late"]
    found[0].answer60 = 60
    try context.save()
    let copy = try #require(ModelContext(context.container).model(for: found[0].persistentModelID) as? Survey)
    #expect(copy.answer95 == nil && copy.comments == ["late"] && copy.answer60 == 60 && copy.answer1 == 5)
    #expect(copy.code == found[0].code && copy.site?.name == "North")
  }

  @Test func `edits of far properties in two contexts are merged, and the same one edited twice is a conflict`() throws
  {
    let store = try container()
    let (mine, theirs) = (store.mainContext, ModelContext(store))
    mine.insert(Survey(sheet: "one"))
    try mine.save()
    let here = try #require(mine.fetch(FetchDescriptor<Survey>()).first)
    let there = try #require(theirs.fetch(FetchDescriptor<Survey>()).first)
    here.answer2 = 2
    there.answer95 = 95
    there.answer66 = 66  // its bit would be that of answer2 in 64 bits
    try theirs.save()
    try mine.save()
    #expect(here.answer2 == 2 && here.answer95 == 95 && here.answer66 == 66)
    theirs.onConflict = .refuse
    here.answer95 = 1
    there.answer95 = 2
    try mine.save()
    #expect(throws: ModelError.self) { try theirs.save() }
    theirs.rollback()
    #expect(there.answer95 == 1)
  }

  @Test func `a far unique property finds the row that it replaces`() throws {
    let context = try container().mainContext
    let first = Survey(sheet: "a")
    context.insert(first)
    try context.save()
    context.onUniqueConflict = .upsert
    let second = Survey(sheet: "b")
    second.code = first.code
    second.answer94 = 94
    context.insert(second)
    try context.save()
    let all = try context.fetch(FetchDescriptor<Survey>())
    #expect(all.count == 1 && all[0].sheet == "b" && all[0].answer94 == 94)
  }

  @Test func `a weak reference to a model is a relationship`() throws {
    let store = try container()
    let context = store.mainContext
    context.insert(Site(name: "wing", parent: Site(name: "house")))
    try context.save()
    let other = ModelContext(store)
    let inHouse = FetchDescriptor<Site>(predicate: #Predicate { $0.parent?.name == "house" })
    let wing = try #require(other.fetch(inHouse).first)
    #expect(wing.name == "wing" && wing.parent?.parent == nil)
  }
}

import Foundation
import Quire
import TestSupport
import Testing

/// Each delete rule over each kind of relationship, however the object goes: the same happens in memory and in the file.
@Suite(.fewAtOnce) struct DeleteRuleMatrixTests {
  enum Way: CaseIterable { case save, bulk, sql }
  enum Shape: CaseIterable { case children, target, many }

  private func container() throws -> ModelContainer {
    try ModelContainer(
      for: CascadeDock.self, NullifyDock.self, DenyDock.self, NoActionDock.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  /// What is left after a dock that has something has been deleted, and what its objects say.
  private struct Outcome: Equatable {
    var isRefused = false
    var docks = 0
    var others = 0
    /// Whether what is left leads to a dock.
    var isReferring = false
    var pairs = 0
    /// The same of the objects that were in memory all the time.
    var isDockDeleted = true
    var isOtherDeleted = false
  }

  private func outcome<D: Dock>(_: D.Type, _ shape: Shape, _ way: Way) throws -> Outcome {
    let store = try container()
    let context = ModelContext(store)
    let dock = D()
    context.insert(dock)
    let other: any PersistentModel
    let name: String
    switch shape {
    case .children:
      dock.boats = [D.Boat()]
      (other, name) = (dock.boats[0], "\(D.Boat.self)")
    case .target:
      let lamp = D.Lamp()
      dock.lamp = lamp
      (other, name) = (lamp, "\(D.Lamp.self)")
    case .many:
      dock.flags = [D.Flag()]
      (other, name) = (dock.flags[0], "\(D.Flag.self)")
    }
    try context.save()
    var result = Outcome()
    do {
      switch way {
      case .save:
        context.delete(dock)
        try context.save()
      case .bulk: try context.delete(model: D.self)
      case .sql: try store.execute("DELETE FROM \(D.self)")
      }
    } catch {
      result.isRefused = true
      if way != .sql { #expect("\(error)".contains(".deny"), "\(error)") }
      context.rollback()
    }
    try context.refresh()
    func count(_ name: String, _ condition: String = "1") throws -> Int {
      let sql = SQL(verbatim: "SELECT count(*) FROM \(table(name)) WHERE \(condition)")
      guard case .integer(let count) = try store.value(sql) else { return -1 }
      return Int(count)
    }
    result.docks = try count("\(D.self)")
    result.others = try count(name)
    if shape == .children { result.isReferring = try count(name, "dock_id IS NOT NULL") > 0 }
    if shape == .many { result.pairs = try count("\(D.self)_flags") }
    result.isDockDeleted = dock.isDeleted
    result.isOtherDeleted = other.isDeleted
    return result
  }

  private func table(_ name: String) -> String {
    name.reduce(into: "") { $0 += $1.isUppercase && !$0.isEmpty ? "_\($1.lowercased())" : $1.lowercased() }
  }

  @Test(arguments: Shape.allCases, Way.allCases) func `cascade takes what it leads to`(shape: Shape, way: Way) throws {
    #expect(try outcome(CascadeDock.self, shape, way) == Outcome(isOtherDeleted: true))
  }

  @Test(arguments: Shape.allCases, Way.allCases) func `nullify leaves it, and no reference`(shape: Shape, way: Way)
    throws
  {
    #expect(try outcome(NullifyDock.self, shape, way) == Outcome(others: 1))
  }

  @Test(arguments: Shape.allCases, Way.allCases) func `deny refuses, and everything stays`(shape: Shape, way: Way)
    throws
  {
    let expected = Outcome(
      isRefused: true, docks: 1, others: 1, isReferring: shape == .children, pairs: shape == .many ? 1 : 0,
      isDockDeleted: false)
    #expect(try outcome(DenyDock.self, shape, way) == expected)
  }

  @Test(arguments: Shape.allCases, Way.allCases)
  func `noAction leaves it with its reference; a pair goes with either side`(
    shape: Shape, way: Way
  ) throws {
    #expect(try outcome(NoActionDock.self, shape, way) == Outcome(others: 1, isReferring: shape == .children))
  }

  @Test func `deny lets go what leads to objects of the same save, or to nothing any more`() throws {
    let store = try container()
    let context = ModelContext(store)
    for round in 0..<2 {
      let dock = DenyDock()
      context.insert(dock)
      let (boat, lamp, flag) = (DenyBoat(), DenyLamp(), DenyFlag())
      dock.boats = [boat]
      dock.lamp = lamp
      dock.flags = [flag]
      try context.save()
      if round == 0 {
        context.delete(dock)
        context.delete(boat)
        context.delete(lamp)
        context.delete(flag)
      } else {
        dock.boats = []
        dock.lamp = nil
        dock.flags = []
        context.delete(dock)
      }
      try context.save()
      #expect(dock.isDeleted && boat.isDeleted == (round == 0) && lamp.isDeleted == (round == 0))
      let counts = try ["deny_dock", "deny_boat", "deny_lamp", "deny_flag", "deny_dock_flags"].map {
        try store.value("SELECT count(*) FROM \(identifier: $0)")
      }
      #expect(counts == (round == 0 ? [0, 0, 0, 0, 0] : [0, 1, 1, 1, 0]))
    }
  }

  @Test func `what a cascade takes by SQL follows its own rules`() throws {
    let store = try container()
    let context = ModelContext(store)
    let pier = CascadePier()
    let dock = CascadeDock()
    context.insert(pier)
    pier.docks = [dock]
    let lamp = CascadeLamp()
    dock.lamp = lamp
    try context.save()
    try store.execute("DELETE FROM cascade_pier")
    try context.refresh()
    #expect(dock.isDeleted && lamp.isDeleted)
    // And the key of what went by a trigger is not given again.
    let next = CascadeLamp()
    context.insert(next)
    try context.save()
    #expect(next.persistentModelID.rowKey == 2)
  }

  @Test func `all data goes, whatever the rules`() throws {
    let store = try container()
    let context = ModelContext(store)
    let dock = DenyDock()
    context.insert(dock)
    dock.boats = [DenyBoat()]
    dock.lamp = DenyLamp()
    dock.flags = [DenyFlag()]
    try context.save()
    try store.erase()
    try context.refresh()
    #expect(dock.isDeleted)
    #expect(try store.query("SELECT 1 FROM deny_dock UNION ALL SELECT 1 FROM deny_lamp").isEmpty)
  }
}

private protocol Dock: PersistentModel {
  associatedtype Boat: Plain
  associatedtype Lamp: Plain
  associatedtype Flag: Plain
  var boats: [Boat] { get set }
  var lamp: Lamp? { get set }
  var flags: [Flag] { get set }
  init()
}

private protocol Plain: PersistentModel { init() }

@Model final class CascadePier {
  @Relationship(deleteRule: .cascade, inverse: \CascadeDock.pier) var docks: [CascadeDock] = []
  init() {}
}
@Model final class CascadeDock: Dock {
  @Relationship(deleteRule: .cascade, inverse: \CascadeBoat.dock) var boats: [CascadeBoat] = []
  @Relationship(deleteRule: .cascade) var lamp: CascadeLamp?
  @Relationship(deleteRule: .cascade, inverse: \CascadeFlag.docks) var flags: [CascadeFlag] = []
  var pier: CascadePier?
  init() {}
}
@Model final class CascadeBoat: Plain {
  var dock: CascadeDock?
  init() {}
}
@Model final class CascadeLamp: Plain { init() {} }
@Model final class CascadeFlag: Plain {
  var docks: [CascadeDock] = []
  init() {}
}

@Model final class NullifyDock: Dock {
  @Relationship(deleteRule: .nullify, inverse: \NullifyBoat.dock) var boats: [NullifyBoat] = []
  @Relationship(deleteRule: .nullify) var lamp: NullifyLamp?
  @Relationship(deleteRule: .nullify, inverse: \NullifyFlag.docks) var flags: [NullifyFlag] = []
  init() {}
}
@Model final class NullifyBoat: Plain {
  var dock: NullifyDock?
  init() {}
}
@Model final class NullifyLamp: Plain { init() {} }
@Model final class NullifyFlag: Plain {
  var docks: [NullifyDock] = []
  init() {}
}

@Model final class DenyDock: Dock {
  @Relationship(deleteRule: .deny, inverse: \DenyBoat.dock) var boats: [DenyBoat] = []
  @Relationship(deleteRule: .deny) var lamp: DenyLamp?
  @Relationship(deleteRule: .deny, inverse: \DenyFlag.docks) var flags: [DenyFlag] = []
  init() {}
}
@Model final class DenyBoat: Plain {
  var dock: DenyDock?
  init() {}
}
@Model final class DenyLamp: Plain { init() {} }
@Model final class DenyFlag: Plain {
  var docks: [DenyDock] = []
  init() {}
}

@Model final class NoActionDock: Dock {
  @Relationship(deleteRule: .noAction, inverse: \NoActionBoat.dock) var boats: [NoActionBoat] = []
  @Relationship(deleteRule: .noAction) var lamp: NoActionLamp?
  @Relationship(deleteRule: .noAction, inverse: \NoActionFlag.docks) var flags: [NoActionFlag] = []
  init() {}
}
@Model final class NoActionBoat: Plain {
  var dock: NoActionDock?
  init() {}
}
@Model final class NoActionLamp: Plain { init() {} }
@Model final class NoActionFlag: Plain {
  var docks: [NoActionDock] = []
  init() {}
}

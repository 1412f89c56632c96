import QuireRow

/// How rows of a grouped result are made, and which of them are shown in which order.
struct GroupForm<Key, Values> {
  let groupsReals: Bool
  let key: (Value) throws -> Key
  let values: (Value, [AggregateState]) throws -> Values
  let areSame: (Values, Values) -> Bool
  let isShown: ((GroupRow<Key, Values>) -> Bool)?
  let precedes: ((GroupRow<Key, Values>, GroupRow<Key, Values>) -> Bool)?
  let limit: Int

  /// The row of an entry that this form's maker has made.
  func row(_ entry: GroupEntry) -> GroupRow<Key, Values> {
    let entry = made(entry)
    return GroupRow(key: entry.key, values: entry.values)
  }

  private func made(_ entry: GroupEntry) -> GroupRowEntry<Key, Values> {
    unsafeDowncast(entry, to: GroupRowEntry<Key, Values>.self)
  }

  /// The form for a list of groups, which does not know the types of its rows.
  var maker: GroupMaker {
    GroupMaker(
      entry: { id, name, states in
        let (key, values) = (try key(name), try values(name, states))
        if let isShown, !isShown(GroupRow(key: key, values: values)) { return nil }
        return GroupRowEntry(id, name, states, key, values)
      },
      areSame: { areSame(made($0).values, made($1).values) },
      precedes: precedes.map { precedes in { precedes(row($0), row($1)) } })
  }
}

/// Makes and compares entries of groups; see ``GroupForm``.
struct GroupMaker {
  /// Nil if the group is not shown.
  let entry: (_ id: Int64, _ name: Value, _ states: [AggregateState]) throws -> GroupEntry?
  let areSame: (GroupEntry, GroupEntry) -> Bool
  let precedes: ((GroupEntry, GroupEntry) -> Bool)?
}

/// A group that may be shown.
///
/// The row is in its subclass: its types are known to the form alone, and copying, comparing and storing rows anywhere
/// else would be calls of the runtime library.
class GroupEntry {
  /// Assigned when the group gets its first row, and never reused.
  let id: Int64
  let name: Value
  /// Its least and greatest values as stored in their columns: equal texts may have different bytes.
  let extremes: [Value]

  fileprivate init(_ id: Int64, _ name: Value, _ states: [AggregateState]) {
    self.id = id
    self.name = name
    extremes = states.compactMap { $0.aggregate.isExtreme ? $0.extreme : nil }
  }
}

private final class GroupRowEntry<Key, Values>: GroupEntry {
  let key: Key
  let values: Values

  init(_ id: Int64, _ name: Value, _ states: [AggregateState], _ key: Key, _ values: Values) {
    self.key = key
    self.values = values
    super.init(id, name, states)
  }
}

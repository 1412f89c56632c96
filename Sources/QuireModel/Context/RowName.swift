/// A row of a store, by its model's number and its key.
struct RowName: Hashable {
  let entity: Int
  let key: Int64
}

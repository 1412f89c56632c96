extension Writing {
  /// In which order a save writes its rows. Each save begins with the first, which costs least.
  struct Order {
    var steps = Steps.insertsFirst
    /// Whether the objects of a class get their rows from the highest key down. Rows that triggers add to the same table
    /// have the keys behind the highest one, and would otherwise take those of the objects that follow.
    var beginsWithHighestKeys = false

    enum Steps {
      case insertsFirst, deletesFirst, valuesGivenUpFirst

      var next: Steps? {
        switch self {
        case .insertsFirst: .deletesFirst
        case .deletesFirst: .valuesGivenUpFirst
        case .valuesGivenUpFirst: nil
        }
      }
    }
  }
}

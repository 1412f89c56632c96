extension Writing {
  /// In which order a save writes its rows. Each save begins with the first, which costs least.
  struct Order {
    var steps = Steps.insertsFirst
    /// If it is not nil, each class gets the row of its highest key first, and the others from there down. Rows that triggers
    /// add to these tables have the keys behind it, and would otherwise take those of the objects that follow.
    var highestKeys: HighestKeys?

    /// Which classes begin: a trigger of theirs adds rows to a table that must have its highest key by then.
    enum HighestKeys {
      case childrenFirst, targetsFirst
    }

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

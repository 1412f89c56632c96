import Quire

extension Difference {
  /// Signs for what left its place, by index before.
  var leaving: [Int: String] {
    var marks: [Int: String] = [:]
    for change in changes {
      switch change {
      case .delete(let at, _): marks[at] = "−"
      case .move(let from, _, _, _): marks[from] = "~"
      case .insert, .update: continue
      }
    }
    return marks
  }

  /// Signs for what came or is another value, by index after.
  var coming: [Int: String] {
    var marks: [Int: String] = [:]
    for change in changes {
      switch change {
      case .insert(let at, _): marks[at] = "+"
      case .update(let at, _, _), .move(_, let at, _, _): marks[at] = "~"
      case .delete: continue
      }
    }
    return marks
  }
}

func plural(_ number: Int, _ one: String, _ many: String? = nil) -> String {
  "\(number) \(number == 1 ? one : many ?? one + "s")"
}

func microseconds(_ duration: Duration) -> Int {
  Int(duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000)
}

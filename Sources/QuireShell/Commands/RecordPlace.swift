/// Where a record of an imported file begins: a script may import several files, so an error names the file too.
struct RecordPlace: Hashable {
  let path: String
  /// From 1.
  let line: Int

  /// An error of this record, or of one of those behind it.
  func failure(_ what: String, hint: String? = nil, orLater: Bool = false) -> ShellFailure {
    let later = orLater ? " or a later one" : ""
    return ShellFailure(
      "line \(line)\(later) of \(printable(path)): \(what)", state: ShellFailure.nothingAdded, hint: hint)
  }
}

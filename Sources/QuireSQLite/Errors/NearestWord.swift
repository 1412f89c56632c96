/// The word that was probably meant, or nil if none is similar.
///
/// Similar means an edit distance (insert, delete, replace, swap neighbors) of at most a third of the word's length, or
/// one for short words; for a word of one letter only the other case counts. Case is ignored, and the first of equally
/// similar words wins.
package func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
  let wanted = Array(word.lowercased())
  var best: (word: String, distance: Int)?
  for candidate in candidates {
    let distance = editDistance(wanted, Array(candidate.lowercased()))
    if distance <= (wanted.count < 2 ? 0 : Swift.max(1, wanted.count / 3)), distance < best?.distance ?? .max {
      best = (candidate, distance)
    }
  }
  return best?.word
}

/// Optimal string alignment distance. - Complexity: O(*nm*)
package func editDistance(_ a: [Character], _ b: [Character]) -> Int {
  var before: [Int] = []
  var last = Array(0...b.count)
  for i in 0..<a.count {
    var row = [i + 1]
    for j in 0..<b.count {
      var cost = Swift.min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = Swift.min(cost, before[j - 1] + 1) }
      row.append(cost)
    }
    before = last
    last = row
  }
  return last[b.count]
}

/// Finds the known name nearest to a misspelt one.
enum ConfigurationName {
  /// The known name with the least edit distance; empty when `known` is empty. A key in the wrong group is found by its last
  /// part.
  static func nearest(to name: String, among known: [String]) -> String {
    let name = name.lowercased()
    let leaf = "." + name.split(separator: ".").suffix(1).joined()
    let displaced = known.filter { $0.hasSuffix(leaf) }
    let candidates = displaced.isEmpty ? known : displaced
    return candidates.min { distance($0.lowercased(), name) < distance($1.lowercased(), name) } ?? ""
  }

  /// Levenshtein's edit distance.
  private static func distance(_ a: String, _ b: String) -> Int {
    let b = Array(b)
    // One row of the table at a time: `row[j]` is the distance between the part of `a` so far and `j` characters of `b`.
    var row = Array(0...b.count)
    for (i, left) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, right) in b.enumerated() {
        let substituted = diagonal + (left == right ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substituted, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[b.count]
  }
}

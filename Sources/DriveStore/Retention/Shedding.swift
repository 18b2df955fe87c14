/// What is to be dropped so that a state directory is within its quota again. A pure value.
///
/// The server has what goes first: submitted fences, the oldest first. Then go files, in their order. What was not sent stays, whatever
/// it takes.
struct Shedding: Hashable, Sendable {
  /// So many of the oldest submitted fences.
  private(set) var fences = 0
  private(set) var files: [Holdings.File] = []
  /// What is too much even then.
  private(set) var bytesOver: Int64 = 0
  private(set) var fencesOver = 0

  init(_ holdings: Holdings, quota: Quota) {
    let surplus = max(0, holdings.fences - quota.fences)
    var excess = max(0, holdings.bytes - quota.bytes)
    // All of the store counts as fences. So it is rather too few that go; who looks again finds the rest.
    let each = max(1, holdings.store / Int64(max(1, holdings.fences)))
    fences = min(holdings.submitted, max(surplus, Int((excess + each - 1) / each)))
    fencesOver = surplus - min(surplus, fences)
    excess -= min(excess, Int64(fences) * each)
    for file in holdings.files where excess > 0 {
      files.append(file)
      excess -= min(excess, file.bytes)
    }
    bytesOver = excess
  }
}

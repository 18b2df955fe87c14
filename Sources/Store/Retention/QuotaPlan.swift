/// The deletions that bring a state directory back within its quota. A pure value.
///
/// Submitted speed tests are deleted first, because one has the bytes of a hundred fences; then submitted fences; then files. Each kind
/// oldest first. The quota never deletes unsent data; ``AgeDeletion`` deletes it by age.
struct QuotaPlan: Hashable, Sendable {
  /// The ids of submitted speed tests.
  private(set) var speedTests: [Int64] = []
  /// The number of submitted fences to delete, oldest first.
  private(set) var fences = 0
  private(set) var files: [Holdings.File] = []
  /// The excess that remains.
  private(set) var bytesOver: Int64 = 0
  private(set) var fencesOver = 0

  init(_ holdings: Holdings, quota: Quota) {
    let surplus = max(0, holdings.fences - quota.fences)
    var excess = max(0, holdings.bytes - quota.bytes)
    for test in holdings.speedTests where excess > 0 {
      speedTests.append(test.id)
      excess -= min(excess, test.bytes)
    }
    // All of the store that is no speed test counts as fences. The estimate is high, so a round deletes too few; the caller repeats it.
    let ofSpeedTests = holdings.speedTests.reduce(0) { $0 + $1.bytes }
    let each = max(1, (holdings.store - ofSpeedTests) / Int64(max(1, holdings.fences)))
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

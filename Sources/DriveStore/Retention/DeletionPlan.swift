/// What to delete so that a state directory is within its quota again. A pure value.
///
/// Submitted fences are deleted first, oldest first; then files, in their order. Unsent data is never deleted.
struct DeletionPlan: Hashable, Sendable {
  /// The number of submitted fences to delete, oldest first.
  private(set) var fences = 0
  private(set) var files: [Holdings.File] = []
  /// The excess that remains.
  private(set) var bytesOver: Int64 = 0
  private(set) var fencesOver = 0

  init(_ holdings: Holdings, quota: Quota) {
    let surplus = max(0, holdings.fences - quota.fences)
    var excess = max(0, holdings.bytes - quota.bytes)
    // Counts the whole store as fences, which deletes too few rather than too many; the caller repeats the step for
    // the rest.
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

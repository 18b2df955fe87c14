/// Fences in their order, from memory or read from a store on each iteration. An export iterates once and need not hold them
/// in memory. A later iteration can have further fences at the end.
public protocol FenceRecords {
  /// Calls `body` for each fence.
  /// - Throws: Errors of `body` and of the store.
  func forEach(_ body: (FenceRecord) throws -> Void) throws
}

extension Array: FenceRecords where Element == FenceRecord {}

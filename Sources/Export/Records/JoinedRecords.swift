import Coverage

/// Fences with their distances.
struct JoinedRecords<Records: FenceRecords>: FenceRecords {
  let records: Records

  func forEach(_ body: (FenceRecord) throws -> Void) throws {
    var trail = FenceTrail()
    try records.forEach { try body(trail.joined($0)) }
  }
}

/// Adds the distances to fences that come in the order of their links (``FenceRecord/distance``).
public struct FenceTrail: Sendable {
  private struct Link: Hashable {
    let started: WallTime?
    let name: String?
  }

  /// The last fence of each link of each drive.
  private var last: [Link: Fence] = [:]

  public init() {}

  /// The record of the next fence of its link, with its distance.
  public mutating func joined(_ record: FenceRecord) -> FenceRecord {
    let former = last.updateValue(record.fence, forKey: Link(started: record.driveStarted, name: record.link))
    var record = record
    if let former { record.distance = former.distance(to: record.fence) }
    return record
  }
}

/// Fences in their order, from memory or read from a store on each iteration. An export iterates once and need not hold them
/// in memory. A later iteration can have further fences at the end.
public protocol FenceRecords {
  /// - Throws: Errors of `body` and of the store.
  func forEach(_ body: (FenceRecord) throws -> Void) throws
}

extension Array: FenceRecords where Element == FenceRecord {}

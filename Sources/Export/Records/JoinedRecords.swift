import Coverage

/// Fences with their distances.
struct JoinedRecords<Records: FenceRecords>: FenceRecords {
  let records: Records

  func forEach(_ body: (FenceRecord) throws -> Void) throws {
    var trail = FenceTrail()
    try records.forEach { try body(trail.joined($0, records.before)) }
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
  /// - Parameter before: Gives the fence before the first one of a link; `nil` without one.
  public mutating func joined(
    _ record: FenceRecord, _ before: (FenceRecord) throws -> FenceRecord?
  ) rethrows -> FenceRecord {
    let former =
      try last.updateValue(record.fence, forKey: Link(started: record.driveStarted, name: record.link))
      ?? before(record)?.fence
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

  /// The fence that comes before a fence of these, when the beginning of a range is all that leaves it out: ranges that follow each other have
  /// the distances of the whole.
  func before(_ record: FenceRecord) throws -> FenceRecord?
}

extension FenceRecords {
  /// None is left out.
  public func before(_ record: FenceRecord) -> FenceRecord? { nil }
}

extension Array: FenceRecords where Element == FenceRecord {}

import Coverage

/// Adds the distances to fences that come in the order of their links (``FenceRecord/distance``).
public struct FenceTrail: Sendable {
  private struct Link: Hashable {
    let started: WallTime?
    let name: String?
  }

  /// The last fence of each link of each drive.
  private var last: [Link: Fence] = [:]

  /// No fence.
  public init() {}

  /// The record of the next fence of its link, with its distance.
  public mutating func joined(_ record: FenceRecord) -> FenceRecord {
    let former = last.updateValue(record.fence, forKey: Link(started: record.driveStarted, name: record.link))
    var record = record
    if let former { record.distance = former.distance(to: record.fence) }
    return record
  }
}

/// Fences with their distances.
struct JoinedRecords<Records: FenceRecords>: FenceRecords {
  let records: Records

  func forEach(_ body: (FenceRecord) throws -> Void) throws {
    var trail = FenceTrail()
    try records.forEach { try body(trail.joined($0)) }
  }
}

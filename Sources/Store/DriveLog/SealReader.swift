/// Finds the events of a log that no seal confirms. Apply the seals in order, then call ``end(events:bytes:isSealed:isTorn:hasGarbage:)``.
struct SealReader {
  /// The offset of the lines that the next seal covers.
  private var blockStart = 0
  /// Their offset when they were written: missing or added lines shift them.
  private var writtenStart: Int64 = 0
  private var firstEvent = 0
  private var hasSeals = false
  /// The number of the last seal's line, from 1.
  private(set) var lastSealLine = 0
  /// Events, by index, that may have been changed or among which some may be missing.
  private(set) var unsealed: [Range<Int>] = []
  /// Events behind the last seal when no damage shows there: a kill leaves them so.
  private(set) var tail: Range<Int>?
  private(set) var isHeaderSealed = true

  /// Compares the lines before a seal with it.
  /// - Parameters:
  ///   - data: The whole log.
  ///   - line: The place of the seal's line in it.
  ///   - number: The number of the line, from 1.
  ///   - events: The number of events before it.
  mutating func apply(_ seal: Seal, of data: [UInt8], line: Range<Int>, number: Int, events: Int) {
    lastSealLine = number
    let isRight =
      Int64(line.lowerBound - blockStart) == seal.bytes.saturatingSubtracting(writtenStart)
      && Seal.checksum(data[blockStart..<line.lowerBound]) == seal.checksum
    if !isRight { doubt(upTo: events) }
    hasSeals = true
    blockStart = line.upperBound + 1
    let (next, isTooMuch) = seal.bytes.addingReportingOverflow(Int64(line.count + 1))
    writtenStart = isTooMuch ? 0 : next
    firstEvent = events
  }

  /// Classifies the events behind the last seal.
  /// - Parameters:
  ///   - events: The number of all events.
  ///   - bytes: The length of the whole log.
  ///   - isSealed: Whether the header announces seals.
  ///   - isTorn: Whether the last line is cut off.
  ///   - hasGarbage: Whether another line behind the last seal cannot be read.
  mutating func end(events: Int, bytes: Int, isSealed: Bool, isTorn: Bool, hasGarbage: Bool) {
    guard isSealed || hasSeals, blockStart < bytes, events > firstEvent || isTorn || hasGarbage || !hasSeals else {
      return
    }
    if hasGarbage || blockStart == 0 { doubt(upTo: events) } else { tail = firstEvent..<events }
  }

  private mutating func doubt(upTo events: Int) {
    if blockStart == 0 { isHeaderSealed = false }
    // At least the next event: a missing line before it makes it uncertain.
    unsealed.append(firstEvent..<max(events, firstEvent + 1))
  }
}

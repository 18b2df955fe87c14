import CZlib
import Coverage
import OrderedJSON

/// A line that vouches for the lines before it, back to the seal before: a flipped bit in a digit is still a digit, and a fence that is made
/// of it another fence. Replay passes over seals; only the recovery of a damaged store asks for them.
struct Seal: Hashable, Sendable {
  /// Where in the file the line begins.
  let bytes: Int64
  /// CRC-32 of all bytes between the seal before, or the beginning, and this line.
  let checksum: UInt32

  func line(at time: DriveTime) -> JSON {
    let digits = String(checksum, radix: 16)
    return .object([
      "at": .seconds(time),
      "seal": .object([
        "bytes": .integer(bytes), "crc32": .string(String(repeating: "0", count: 8 - digits.count) + digits),
      ]),
    ])
  }

  /// - Parameter checksum: Of what came before `bytes`; 0 of nothing.
  static func checksum(_ bytes: some Collection<UInt8>, after checksum: UInt32 = 0) -> UInt32 {
    let result = bytes.withContiguousStorageIfAvailable { bytes in
      bytes.isEmpty ? UInt(checksum) : crc32(UInt(checksum), bytes.baseAddress, UInt32(clamping: bytes.count))
    }
    return UInt32(truncatingIfNeeded: result ?? UInt(checksum))
  }
}

extension Seal: Decodable {
  private enum Key: String, CodingKey {
    case bytes, crc32
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    bytes = try values.decode(Int64.self, forKey: .bytes)
    guard let checksum = UInt32(try values.decode(String.self, forKey: .crc32), radix: 16) else {
      throw DecodingError.dataCorruptedError(forKey: .crc32, in: values, debugDescription: "no checksum")
    }
    self.checksum = checksum
  }
}

/// Finds out which events of a log are as they were written, line by line.
struct SealReader {
  /// Where the lines begin that the next seal vouches for.
  private var blockStart = 0
  /// Where they began when they were written.
  private var writtenStart: Int64 = 0
  private var firstEvent = 0
  private var hasSeals = false
  /// The line of the last seal, from 1.
  private(set) var lastSealLine = 0
  /// Events, by index, that no seal vouches for.
  private(set) var unsealed: [Range<Int>] = []
  /// Events behind the last seal: so a kill leaves them, and no other damage shows there.
  private(set) var tail: Range<Int>?
  private(set) var isHeaderSealed = true

  /// - Parameters:
  ///   - data: The whole log.
  ///   - line: Where in it the seal's line lies.
  ///   - number: Of the line, from 1.
  ///   - events: How many there are before it.
  mutating func take(_ seal: Seal, of data: [UInt8], line: Range<Int>, number: Int, events: Int) {
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

  /// After the last line.
  /// - Parameters:
  ///   - bytes: Of the whole log.
  ///   - hasGarbage: Whether there are lines behind the last seal, the torn one apart, that cannot be read.
  mutating func end(events: Int, bytes: Int, isSealed: Bool, isTorn: Bool, hasGarbage: Bool) {
    guard isSealed || hasSeals, blockStart < bytes, events > firstEvent || isTorn || hasGarbage || !hasSeals else {
      return
    }
    if hasGarbage || blockStart == 0 { doubt(upTo: events) } else { tail = firstEvent..<events }
  }

  private mutating func doubt(upTo events: Int) {
    if blockStart == 0 { isHeaderSealed = false }
    // What is missing between two events makes the later one uncertain.
    unsealed.append(firstEvent..<max(events, firstEvent + 1))
  }
}

import CZlib
import Coverage
import OrderedJSON

/// A line with the checksum of the lines before it, back to the last seal. A flipped bit can turn a digit into another digit, which no
/// reader notices, and the drive into other fences. Replay ignores seals; the recovery of a damaged store checks them.
struct Seal: Hashable, Sendable {
  /// The offset of this line in the file, in bytes.
  let bytes: Int64
  /// CRC-32 of all bytes from the end of the last seal, or from the start of the file, to this line.
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

  /// The CRC-32 of `bytes`.
  /// - Parameter checksum: The checksum of the bytes before; 0 when there are none.
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
      throw DecodingError.dataCorruptedError(forKey: .crc32, in: values, debugDescription: "not a checksum")
    }
    self.checksum = checksum
  }
}

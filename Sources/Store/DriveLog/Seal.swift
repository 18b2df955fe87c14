import CZlib
import Coverage
import Foundation
import OrderedJSON

/// A line with the checksum of the lines before it, back to the last seal. A flipped bit can turn a digit into another digit, which no
/// reader notices, and the drive into other fences. Replay ignores seals; the recovery of a damaged store checks them.
struct Seal: Hashable, Sendable {
  /// The offset of this line in the file, in bytes.
  let bytes: Int64
  /// CRC-32 of all bytes from the end of the last seal, or from the start of the file, to this line.
  let checksum: UInt32

  func line(at time: DriveTime) -> JSON {
    .object([
      "at": .seconds(time),
      "seal": .object(["bytes": .integer(bytes), "crc32": .string(String(format: "%08x", checksum))]),
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

/// Why a file cannot be read as a drive log, or a drive log cannot be written.
public enum DriveLogError: Error, Hashable, CustomStringConvertible {
  case unreadable(path: String, reason: String)
  case notADriveLog
  case badHeader(String)
  case unsupportedVersion(Int)
  case badStart(String)
  case badPath(String)
  case unwritable(path: String, reason: String)

  public var description: String {
    switch self {
    case .unreadable(let path, let reason): "cannot read drive log \(path): \(reason)"
    case .notADriveLog: "not a drive log: the first line must be an object with \"drive\":1"
    case .badHeader(let reason): "the first line of the drive log is not a header: \(reason)"
    case .unsupportedVersion(let version): "drive log of version \(version): this program reads version 1"
    case .badStart(let text): "drive log starts at \"\(text)\": expected a time like 2026-11-20T10:00:00.000Z"
    case .badPath(let path): "drive log has initial_path \"\(path)\": expected cellular, wifi or none"
    case .unwritable(let path, let reason): "cannot write drive log \(path): \(reason)"
    }
  }
}

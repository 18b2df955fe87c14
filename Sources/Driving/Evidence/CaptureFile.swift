/// A capture file as read: pcapng, or the older pcap. Reading stops at the first damage (``damage``).
public struct CaptureFile: Sendable {
  /// In the order of the file.
  public let packets: [CapturedPacket]
  /// The counters of missing packets; `nil` when the file has none, as after a power cut.
  public let statistics: CaptureStatistics?
  /// Why the rest of the file was not read; `nil` when all of it was.
  public let damage: String?
  /// The number of packets without a time or of an unknown interface.
  public let unusable: Int

  /// Reads the contents of a capture file.
  /// - Throws: ``CaptureFileError/notACapture`` when the first bytes are not those of a capture file.
  public init(_ bytes: [UInt8]) throws(CaptureFileError) {
    let bytes = Bytes(bytes)
    if let content = PcapngReader.read(bytes) ?? PcapReader.read(bytes) {
      (packets, statistics, damage, unusable) =
        (content.packets, content.statistics, content.damage, content.unusable)
    } else {
      throw .notACapture
    }
  }
}

/// Why the bytes of a file cannot be read as a capture.
public enum CaptureFileError: Error, Hashable, CustomStringConvertible {
  /// The first bytes are neither pcapng nor pcap.
  case notACapture

  /// One line for the operator.
  public var description: String { "not a capture file: it starts neither like pcapng nor like pcap" }
}

/// Reads pcap, the format before pcapng, in either byte order, with microseconds or nanoseconds.
enum PcapReader {
  /// `nil` for bytes that are not pcap.
  static func read(_ bytes: Bytes) -> CaptureContent? {
    guard let (little, unit) = format(bytes), let linkType = bytes.u32(20, little: little) else { return nil }
    var content = CaptureContent()
    var offset = 24
    while offset < bytes.count {
      guard let header = bytes.slice(offset, 16), let seconds = header.u32(0, little: little),
        let fraction = header.u32(4, little: little), let captured = header.u32(8, little: little),
        let packet = bytes.slice(offset + 16, Int(captured))
      else {
        content.damage = "at byte \(offset): a packet is cut off"
        break
      }
      content.packets.append(
        CapturedPacket(
          stamp: Int64(seconds) * 1_000_000_000 + Int64(fraction) * unit,
          // The upper half contains the length of a frame check sequence.
          linkType: UInt16(truncatingIfNeeded: linkType), bytes: packet))
      offset += 16 + Int(captured)
    }
    return content
  }

  /// Whether the file is little-endian, and the length of its smaller unit of time in nanoseconds; `nil` for another magic number.
  private static func format(_ bytes: Bytes) -> (little: Bool, unit: Int64)? {
    switch bytes.u32(0) {
    case 0xA1B2_C3D4: (false, 1000)
    case 0xD4C3_B2A1: (true, 1000)
    case 0xA1B2_3C4D: (false, 1)
    case 0x4D3C_B2A1: (true, 1)
    default: nil
    }
  }
}

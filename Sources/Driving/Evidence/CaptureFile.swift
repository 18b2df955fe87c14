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

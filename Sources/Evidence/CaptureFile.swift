import Foundation

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

  /// Reads the file at `path`.
  /// - Throws: ``CaptureFileError`` when it cannot be read or is not a capture file.
  public init(path: String) throws(CaptureFileError) {
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
    } catch {
      let reason = (error as NSError).localizedFailureReason ?? error.localizedDescription
      throw .unreadable(path: path, reason: reason)
    }
    do {
      try self.init([UInt8](data))
    } catch {
      throw .notACapture(path: path)
    }
  }

  /// Reads the contents of a capture file.
  /// - Throws: ``CaptureFileError/notACapture(path:)`` when the first bytes are not those of a capture file.
  public init(_ bytes: [UInt8]) throws(CaptureFileError) {
    let bytes = Bytes(bytes)
    if let content = PcapngReader.read(bytes) ?? PcapReader.read(bytes) {
      (packets, statistics, damage, unusable) =
        (content.packets, content.statistics, content.damage, content.unusable)
    } else {
      throw .notACapture(path: nil)
    }
  }
}

import Foundation

/// A capture file as read: pcapng, or the older pcap. Any bytes are survived; what follows damage is not read, and that
/// is said.
public struct CaptureFile: Sendable {
  /// In the order of the file.
  public let packets: [CapturedPacket]
  /// What the file says of packets that are missing; `nil` when it does not, as after a power cut.
  public let statistics: CaptureStatistics?
  /// Why the rest of the file was not read; `nil` when all was.
  public let damage: String?
  /// Packets without a time, or on a link that is not known.
  public let unusable: Int

  /// - Throws: ``CaptureFileError`` when it cannot be read, or is no capture file.
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

/// Why a file cannot be read as a capture.
public enum CaptureFileError: Error, Hashable, CustomStringConvertible {
  case unreadable(path: String, reason: String)
  case notACapture(path: String?)

  public var description: String {
    switch self {
    case .unreadable(let path, let reason): "cannot read capture file \(path): \(reason)"
    case .notACapture(let path?): "\(path) is no capture file: it begins neither like pcapng nor like pcap"
    case .notACapture(nil): "no capture file: it begins neither like pcapng nor like pcap"
    }
  }
}

/// One packet of a capture.
public struct CapturedPacket: Sendable {
  /// Nanoseconds since the Unix epoch, on CLOCK_REALTIME of the host that captured it.
  public let stamp: Int64
  /// LINKTYPE_... of the interface.
  public let linkType: UInt16
  /// The bytes that were kept.
  let bytes: Bytes
}

/// What a file says of packets that are missing in it.
public struct CaptureStatistics: Hashable, Sendable {
  /// Passed the filter.
  public var accepted: UInt64 = 0
  /// Are in the file.
  public var delivered: UInt64 = 0
  /// Dropped by the kernel or the interface.
  public var dropped: UInt64 = 0

  /// Passed the filter, or the interface, and are not in the file.
  public var missing: UInt64 {
    let unwritten = accepted > delivered ? accepted - delivered : 0
    return max(unwritten, dropped)
  }

  static func + (left: Self, right: Self) -> Self {
    Self(
      accepted: left.accepted &+ right.accepted, delivered: left.delivered &+ right.delivered,
      dropped: left.dropped &+ right.dropped)
  }
}

/// What a reader found.
struct CaptureContent {
  var packets: [CapturedPacket] = []
  var statistics: CaptureStatistics?
  var damage: String?
  var unusable = 0
}

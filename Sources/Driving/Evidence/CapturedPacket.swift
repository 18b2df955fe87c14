/// A packet of a capture.
public struct CapturedPacket: Sendable {
  /// Nanoseconds since the Unix epoch, on CLOCK_REALTIME of the host that captured it.
  public let stamp: Int64
  /// The type of the link's header, a LINKTYPE_ value of tcpdump.org.
  let linkType: UInt16
  /// The captured bytes; a capture can cut packets off.
  let bytes: Bytes
}

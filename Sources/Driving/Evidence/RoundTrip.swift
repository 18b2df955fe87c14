import Coverage

/// A ping in a capture: its request, and the packets that came back.
public struct RoundTrip: Hashable, Sendable {
  /// Identifies the ping on the wire.
  public let key: PingKey
  /// When the request was captured, in nanoseconds since the epoch, on the clock of the capture.
  let sentAt: Int64
  /// When the first reply was captured, on the same clock; `nil`: no reply.
  var answeredAt: Int64?
  /// Whether the first reply was a refusal of the token (RE01).
  public internal(set) var isRefused = false
  /// When the first ICMP error about the request was captured; `nil`: none.
  var failedAt: Int64?
  /// Further captures of the same request, on a second interface or in a second file.
  public internal(set) var copies = 0
  /// Further replies; also the same reply captured on a second interface.
  public internal(set) var duplicates = 0

  /// The time from the request to the first reply; `nil` without a reply.
  public var rttNanoseconds: Int64? { answeredAt.map { $0.saturatingSubtracting(sentAt) } }

  /// Applies a reply or an error.
  mutating func apply(_ kind: ProbePacket.Kind, at stamp: Int64) {
    if kind == .error {
      failedAt = failedAt ?? stamp
    } else if answeredAt != nil {
      duplicates += 1
    } else {
      answeredAt = stamp
      isRefused = kind == .refusal
    }
  }
}

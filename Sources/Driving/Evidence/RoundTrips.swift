import Coverage

/// The pings in captured packets, each request with the packets that came back.
public struct RoundTrips: Sendable {
  /// In the order of sending.
  public private(set) var trips: [RoundTrip] = []
  /// The number of replies and errors whose request was not captured.
  public private(set) var orphans = 0
  /// The number of packets that belong to no ping (``ProbePacket``).
  private(set) var foreign = 0

  /// In nanoseconds. A request with the same key after this time is another ping, because echo sequences wrap.
  private static let keyLifetime: Int64 = 10_000_000_000

  /// Pairs requests with replies and errors.
  /// - Parameter packets: The packets of any number of files, in any order.
  public init(_ packets: some Sequence<CapturedPacket>) {
    var ours: [(stamp: Int64, packet: ProbePacket)] = []
    for packet in packets {
      if let probe = ProbePacket(packet) { ours.append((packet.stamp, probe)) } else { foreign += 1 }
    }
    // A request precedes a reply with the same stamp.
    ours.sort { ($0.stamp, $0.packet.kind == .request ? 0 : 1) < ($1.stamp, $1.packet.kind == .request ? 0 : 1) }
    var newest: [PingKey: Int] = [:]
    for (stamp, packet) in ours {
      if packet.kind == .request {
        if let index = newest[packet.key], stamp.saturatingSubtracting(trips[index].sentAt) < Self.keyLifetime {
          trips[index].copies += 1
        } else {
          newest[packet.key] = trips.count
          trips.append(RoundTrip(key: packet.key, sentAt: stamp))
        }
      } else if let index = newest[packet.key] {
        trips[index].apply(packet.kind, at: stamp)
      } else {
        orphans += 1
      }
    }
  }
}

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

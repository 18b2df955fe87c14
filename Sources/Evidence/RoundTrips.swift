import Coverage

/// A ping as a capture shows it.
public struct RoundTrip: Hashable, Sendable {
  public let key: PingKey
  /// When the request passed, in nanoseconds since the epoch, on the clock of the capture.
  public let sentAt: Int64
  /// When its first reply passed.
  public internal(set) var answeredAt: Int64?
  /// The reply was RE01.
  public internal(set) var isRefused = false
  /// When an ICMP error about it passed.
  public internal(set) var failedAt: Int64?
  /// More requests of the same ping: seen on a second interface, or in two files.
  public internal(set) var copies = 0
  /// More replies; also the same one, seen on a second interface.
  public internal(set) var duplicates = 0

  /// From request to first reply.
  public var rttNanoseconds: Int64? { answeredAt.map { $0.saturatingSubtracting(sentAt) } }
}

/// The pings in some captured packets: each request with what came back.
public struct RoundTrips: Sendable {
  /// In the order of sending.
  public private(set) var trips: [RoundTrip] = []
  /// Replies and errors whose request was not captured.
  public private(set) var orphans = 0
  /// Packets that belong to no ping of a kind that is known.
  public private(set) var foreign = 0

  /// After so long a key is taken to be in use for another ping, as echo sequences come round.
  private static let keyLifetime: Int64 = 10_000_000_000

  /// - Parameter packets: In any order, of any number of files.
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
        trips[index].take(packet.kind, at: stamp)
      } else {
        orphans += 1
      }
    }
  }
}

extension RoundTrip {
  mutating func take(_ kind: ProbePacket.Kind, at stamp: Int64) {
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

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

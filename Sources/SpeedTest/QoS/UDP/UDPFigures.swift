import OrderedJSON

/// The figures of one direction of the UDP test, whichever side counted them.
struct UDPFigures: Hashable, Sendable {
  /// Packets that the receiver counted: the server for out, this host for in.
  var received: Int64 = 0
  /// Answers that the sender counted: this host for out, the server for in.
  var answered: Int64 = 0
  /// Packets that the objective asks for.
  var wanted: Int64
  /// Round trips in ns by packet.
  var roundTrips: [Int64: Int64] = [:]

  /// Whole percents of packets that did not arrive, rounded up: 0 only when all arrived.
  var lossPercent: Int64 {
    guard wanted > 0 else { return 0 }
    let lost = max(0, wanted - min(max(received, 0), wanted))
    return (lost * 100 + wanted - 1) / wanted
  }

  var meanRoundTrip: Int64? { UDPCount.mean(roundTrips.values) }

  /// The round trips as the reference client writes them: `{0=18515782, 1=6708263}`.
  var roundTripText: String {
    "{" + roundTrips.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ", ") + "}"
  }
}

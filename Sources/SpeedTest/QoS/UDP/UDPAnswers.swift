import Coverage

/// The packets that this host sent, and the answers to them, as a value.
struct UDPAnswers: Hashable, Sendable {
  /// The time of each packet, ns of the clock, by its index.
  private var sent: [Int64] = []
  /// Round trips in ns by the index of their packet.
  private(set) var roundTrips: [Int: Int64] = [:]
  /// Answers to packets that have one already.
  private(set) var duplicates = 0

  /// The number of the next packet. It is one byte: numbers repeat from 256 packets on.
  var nextNumber: UInt8 { UInt8(truncatingIfNeeded: sent.count) }
  /// Packets so far.
  var count: Int { sent.count }
  /// Whether each packet has its answer.
  var isComplete: Bool { roundTrips.count == sent.count }

  mutating func send(at time: Int64) { sent.append(time) }

  /// An answer. Its number means the newest packet that has it.
  mutating func answer(_ number: UInt8, at time: Int64) {
    guard let newest = sent.indices.last else { return }
    let index = newest - Int(UInt8(truncatingIfNeeded: newest) &- number)
    // No packet with this number was sent.
    guard index >= 0 else { return }
    if roundTrips[index] == nil {
      roundTrips[index] = max(0, time.saturatingSubtracting(sent[index]))
    } else {
      duplicates += 1
    }
  }
}

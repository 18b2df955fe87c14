/// A received packet of a call: its numbers, and its arrival in ns of any clock.
struct RTPArrival: Hashable, Sendable {
  let sequence: UInt16
  /// Ticks of the sample clock, from the header.
  let timestamp: UInt32
  let time: Int64
}

/// When a packet of a call arrived, in ns of any clock.
struct RTPArrival: Hashable, Sendable {
  let sequence: UInt16
  let timestamp: UInt32
  let time: Int64
}

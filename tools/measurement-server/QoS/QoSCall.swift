import Foundation

/// A call: measures the client's packets, and sends back a stream of the same shape.
final class QoSCall: @unchecked Sendable {
  /// The numbers of `VOIPTEST`. Times are in ms, except the buffer's, in ns.
  struct Order: Hashable {
    let port: UInt16
    let rate: Int
    let bits: Int
    let delay: Int
    let duration: Int
    let firstSequence: UInt16
    let payloadType: UInt8
    let buffer: Int64

    init?(_ numbers: [Int]) {
      guard (1024...65535).contains(numbers[0]), (1...192_000).contains(numbers[2]), (1...32).contains(numbers[3]),
        (1...1000).contains(numbers[4]), (numbers[4]...30_000).contains(numbers[5]),
        numbers[5] / numbers[4] <= 1000, (0...65535).contains(numbers[6]), (0...127).contains(numbers[7]),
        (0...60_000_000_000).contains(numbers[8])
      else { return nil }
      port = UInt16(numbers[0])
      (rate, bits, delay, duration) = (numbers[2], numbers[3], numbers[4], numbers[5])
      (firstSequence, payloadType, buffer) = (UInt16(numbers[6]), UInt8(numbers[7]), Int64(numbers[8]))
      guard step * bits / 8 <= 60_000 else { return nil }
    }

    var packets: Int { duration / delay }
    /// Ticks of the time stamp from packet to packet.
    var step: Int { rate * delay / 1000 }
  }

  let order: Order
  let source: UInt32
  private let lock = NSLock()
  private var arrivals: [(sequence: UInt16, timestamp: UInt32, time: Int64)] = []

  init(_ order: Order, source: UInt32) { (self.order, self.source) = (order, source) }

  /// Records a packet of the client.
  /// - Returns: Whether it is the first, which starts the stream back (edge 43).
  func receive(_ packet: [UInt8], at time: Int64) -> Bool {
    lock.withLock {
      arrivals.append((UInt16(packet[2]) << 8 | UInt16(packet[3]), Self.number(packet[4..<8]), time))
      return arrivals.count == 1
    }
  }

  static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

  /// The packet with this number in the stream.
  func packet(_ index: Int) -> [UInt8] {
    let sequence = order.firstSequence &+ UInt16(truncatingIfNeeded: index)
    let timestamp = UInt32(truncatingIfNeeded: index * order.step)
    return [0x80, (index == 0 ? 0x80 : 0) | order.payloadType, UInt8(sequence >> 8), UInt8(sequence & 0xFF)]
      + withUnsafeBytes(of: timestamp.bigEndian) { Array($0) } + withUnsafeBytes(of: source.bigEndian) { Array($0) }
      + (0..<order.step * order.bits / 8).map { _ in UInt8.random(in: 0...255) }
  }

  /// The numbers of `VOIPRESULT`.
  var result: String {
    lock.withLock {
      // Each packet once, at its latest arrival.
      let latest = Dictionary(arrivals.enumerated().map { ($1.sequence, $0) }, uniquingKeysWith: max)
      let distinct = latest.values.sorted().map { arrivals[$0] }
      let sorted = distinct.sorted { $0.sequence &- order.firstSequence < $1.sequence &- order.firstSequence }
      var (jitter, sum, most, delta, skew) = (0.0, 0.0, 0.0, Int64(0), Int64(0))
      for index in sorted.indices.dropFirst() {
        let (before, packet) = (sorted[index - 1], sorted[index])
        let ticks = Int64(Int32(bitPattern: packet.timestamp &- before.timestamp))
        let difference = packet.time - before.time - ticks * 1_000_000_000 / Int64(order.rate)
        jitter += (Double(abs(difference)) - jitter) / 16
        (sum, most, delta) = (sum + jitter, max(most, jitter), max(delta, abs(difference)))
        skew -= difference
      }
      let mean = sorted.isEmpty ? 0 : sum / Double(sorted.count)
      let runs = runs(distinct.map(\.sequence))
      let gaps = zip(arrivals, arrivals.dropFirst()).map { $1.time - $0.time }.filter { $0 > order.buffer }
      let stall = gaps.isEmpty ? 0 : gaps.reduce(0, +) / Int64(gaps.count) / 1_000_000
      return "VOIPRESULT \(Int64(most)) \(Int64(mean)) \(delta) \(skew) \(sorted.count) \(runs.errors) "
        + "\(runs.shortest) \(runs.longest) \(gaps.count) \(stall)"
    }
  }

  /// Runs of packets at the place of their number, as the reference counts them, and the number of packets at another place.
  private func runs(_ distinct: [UInt16]) -> (errors: Int, shortest: Int, longest: Int) {
    let isExpected = distinct.enumerated().map { $1 &- order.firstSequence == UInt16(truncatingIfNeeded: $0) }
    let lengths = isExpected.split(separator: false).map(\.count)
    let longest = lengths.max() ?? 0
    return (isExpected.count { !$0 }, lengths.filter { $0 > 1 }.min() ?? longest, longest)
  }
}

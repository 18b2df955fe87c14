/// The packets of the server that arrived here, as a value.
struct UDPArrivals: Hashable, Sendable {
  /// Indexes of packets, which go on beyond 255.
  private var seen: Set<Int> = []
  private var newest = 0
  private(set) var duplicates = 0

  /// The number of different packets.
  var count: Int { seen.count }

  /// A packet. Its number is one byte: it stands for the index with this low byte that is nearest to the newest one.
  mutating func arrive(_ number: UInt8) {
    let step = Int(Int8(bitPattern: number &- UInt8(truncatingIfNeeded: newest)))
    // No index is below 0: a high number at the start is a packet after lost ones.
    let index = newest + step < 0 ? newest + step + 256 : newest + step
    newest = max(newest, index)
    if !seen.insert(index).inserted { duplicates += 1 }
  }
}

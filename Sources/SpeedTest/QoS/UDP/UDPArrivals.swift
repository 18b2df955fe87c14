/// The packets of the server that arrived here.
struct UDPArrivals: Hashable, Sendable {
  private var seen: Set<Int> = []
  private var newest = 0
  private(set) var duplicates = 0

  /// Different packets.
  var count: Int { seen.count }

  /// A packet. Its number is one byte: it means the nearest index to the newest one.
  mutating func arrive(_ number: UInt8) {
    let step = Int(Int8(bitPattern: number &- UInt8(truncatingIfNeeded: newest)))
    // Before the first packet there is none: a high number then is a packet after lost ones.
    let index = newest + step < 0 ? newest + step + 256 : newest + step
    newest = max(newest, index)
    if !seen.insert(index).inserted { duplicates += 1 }
  }
}

import Coverage

/// The count of a QoS server after a UDP test: `RCV packets duplicates {"0":ns,...}`. The parts after the packets may be missing.
struct UDPCount: Hashable, Sendable {
  let received: Int64
  let duplicates: Int64
  /// Round trips in ns by packet, where the server measured them.
  let roundTrips: [Int64: Int64]

  /// `nil` for any other text, and for negative counts. Duplicates that cannot be read count as 0.
  init?(_ text: String) {
    let words = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: true)
    guard words.count >= 2, words[0] == "RCV", let received = Int64(words[1]), received >= 0 else { return nil }
    self.received = received
    duplicates = words.count > 2 ? max(0, Int64(words[2]) ?? 0) : 0
    roundTrips = words.count > 3 ? Self.pairs(words[3]) : [:]
  }

  /// Numbers in pairs, `{"0":12,"1":13}` or `{0=12, 1=13}`; others are left out.
  private static func pairs(_ text: Substring) -> [Int64: Int64] {
    text.split(separator: ",").reduce(into: [:]) { pairs, entry in
      let numbers = entry.split { !($0.isASCII && ($0.isNumber || $0 == "-")) }.compactMap { Int64($0) }
      if numbers.count == 2, numbers[1] >= 0 { pairs[numbers[0]] = numbers[1] }
    }
  }

  /// The mean of round trips in ns, rounded down; `nil` without any.
  static func mean(_ roundTrips: some Collection<Int64>) -> Int64? {
    guard !roundTrips.isEmpty else { return nil }
    return roundTrips.reduce(0) { $0.saturatingAdding($1) } / Int64(roundTrips.count)
  }
}

/// The figures of one direction of a call. Times in ns, but for the mean stall, which servers give in ms.
struct RTPFigures: Hashable, Sendable {
  var maximumJitter: Int64 = 0
  var meanJitter: Int64 = 0
  /// The largest |D| of two packets in a row, where D is the arrival difference less the time stamp difference.
  var maximumDelta: Int64 = 0
  /// The sum of time stamp differences less arrival differences: positive when packets come faster than they were made.
  var skew: Int64 = 0
  /// Packets that arrived; in the figures of this host, repeated ones count once.
  var packets: Int64 = 0
  /// Packets that did not arrive at the place of their number.
  var sequenceErrors: Int64 = 0
  /// The shortest run of at least two packets without a sequence error, and the longest run.
  var shortestRun: Int64 = 0
  var longestRun: Int64 = 0
  /// `nil`: the server does not count them.
  var stalls: Int64? = 0
  var meanStallMilliseconds: Int64? = 0

  init() {}

  /// The server's `VOIPRESULT` with 8 or 10 numbers; `nil` for any other text.
  init?(reply: String) {
    let words = reply.split(separator: " ")
    let numbers = words.dropFirst().compactMap { Int64($0) }
    guard words.first == "VOIPRESULT", numbers.count == words.count - 1, [8, 10].contains(numbers.count) else {
      return nil
    }
    (maximumJitter, meanJitter, maximumDelta, skew) = (numbers[0], numbers[1], numbers[2], numbers[3])
    (packets, sequenceErrors, shortestRun, longestRun) = (numbers[4], numbers[5], numbers[6], numbers[7])
    (stalls, meanStallMilliseconds) = numbers.count == 10 ? (numbers[8], numbers[9]) : (nil, nil)
  }
}

/// A received packet of a call: its numbers, and its arrival in ns of any clock.
struct RTPArrival: Hashable, Sendable {
  let sequence: UInt16
  /// Ticks of the sample clock, from the header.
  let timestamp: UInt32
  let time: Int64
}

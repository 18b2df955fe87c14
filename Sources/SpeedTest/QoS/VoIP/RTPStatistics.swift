import Coverage

/// Computes the figures of a received RTP stream (docs/protocol.md, 8).
///
/// As the reference computes both directions: each packet once, at its latest arrival. Jitter, delta and skew go over the packets by their
/// sequence, sequence errors and runs over the packets as they arrived; stalls, which the reference's client does not count, over all arrivals.
struct RTPStatistics: Sendable {
  let firstSequence: UInt16
  /// Ticks of time stamps a second.
  let sampleRate: Int64
  /// ns; a longer gap is a stall.
  let buffer: Int64

  /// - Parameter arrivals: In order of arrival.
  func figures(_ arrivals: [RTPArrival]) -> RTPFigures {
    var figures = RTPFigures()
    var seen: Set<UInt16> = []
    let single = Array(arrivals.reversed().filter { seen.insert($0.sequence).inserted }.reversed())
    figures.packets = Int64(single.count)
    // Sequence numbers wrap: their distance from the first one orders them.
    addTimes(single.sorted { $0.sequence &- firstSequence < $1.sequence &- firstSequence }, to: &figures)
    addRuns(single, to: &figures)
    addStalls(arrivals, to: &figures)
    return figures
  }

  /// Adds jitter, delta and skew: RFC 3550 style, J += (|D| - J) / 16, where D is the arrival difference less the time stamp
  /// difference.
  /// - Parameter packets: Each packet once, by sequence.
  private func addTimes(_ packets: [RTPArrival], to figures: inout RTPFigures) {
    var (jitter, sum, most) = (0.0, 0.0, 0.0)
    for (before, packet) in zip(packets, packets.dropFirst()) {
      let arrival = packet.time.saturatingSubtracting(before.time)
      let difference = arrival.saturatingSubtracting(sampleTime(from: before.timestamp, to: packet.timestamp))
      jitter += (Double(difference.saturatingMagnitude) - jitter) / 16
      sum += jitter
      most = max(most, jitter)
      figures.maximumDelta = max(figures.maximumDelta, difference.saturatingMagnitude)
      figures.skew = figures.skew.saturatingSubtracting(difference)
    }
    figures.maximumJitter = Int64(saturating: most) ?? 0
    // The first packet has no jitter, and counts in the mean.
    figures.meanJitter = packets.isEmpty ? 0 : Int64(saturating: sum / Double(packets.count)) ?? 0
  }

  /// ns between two time stamps, which wrap.
  private func sampleTime(from first: UInt32, to second: UInt32) -> Int64 {
    Int64(Int32(bitPattern: second &- first)) * 1_000_000_000 / max(1, sampleRate)
  }

  /// Adds sequence errors and runs: the packet at each place is expected to have the number of that place. So all packets after a lost one are
  /// errors, up to a packet that comes late enough to fill the gap.
  /// - Parameter packets: Each packet once, by arrival.
  private func addRuns(_ packets: [RTPArrival], to figures: inout RTPFigures) {
    var (runs, run) = ([Int64](), Int64(0))
    for (place, packet) in packets.enumerated() {
      if packet.sequence == firstSequence &+ UInt16(truncatingIfNeeded: place) {
        run += 1
      } else {
        figures.sequenceErrors += 1
        runs.append(run)
        run = 0
      }
    }
    runs.append(run)
    figures.longestRun = runs.max() ?? 0
    // A single packet is no run, unless there is no other.
    figures.shortestRun = runs.filter { $0 > 1 }.min() ?? figures.longestRun
  }

  /// Adds the number of stalls and their mean length.
  private func addStalls(_ arrivals: [RTPArrival], to figures: inout RTPFigures) {
    let gaps = zip(arrivals, arrivals.dropFirst()).map { $1.time.saturatingSubtracting($0.time) }.filter { $0 > buffer }
    figures.stalls = Int64(gaps.count)
    guard !gaps.isEmpty else { return }
    figures.meanStallMilliseconds = gaps.reduce(0) { $0.saturatingAdding($1) } / Int64(gaps.count) / 1_000_000
  }
}

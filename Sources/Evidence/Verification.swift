import Coverage

/// What a drive log says of its pings beside what a capture shows of them. A pure value.
public struct Verification: Hashable, Sendable {
  /// One ping of which the two do not say the same.
  public struct Disagreement: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
      /// The log has a round-trip time, the capture no reply in time.
      case answeredOnlyInLog = "answered in the log, not in the capture"
      /// The capture shows a reply in time, the log has none.
      case answeredOnlyInCapture = "answered in the capture, not in the log"
      /// Answered in both, with round-trip times that no two ways of measuring the same ping give.
      case roundTripDiffers = "with another round-trip time in the capture"
      /// The log has a ping that was sent, the capture no packet of it.
      case onlyInLog = "in the log, not in the capture"
      /// The capture has a ping from the midst of the drive that the log does not have.
      case onlyInCapture = "in the capture, not in the log"
      /// In both, with times that no clock explains: the log tells when the host's was set.
      case sentAtAnotherTime = "at another time in the capture"
    }

    /// The ping's time; for one that is only captured, by the wall clock.
    public let at: DriveTime
    public let kind: Kind
  }

  /// How far the round-trip times of pings that were answered in both are apart.
  public struct Difference: Hashable, Sendable {
    public let count: Int
    public let p50Nanoseconds: Int64
    public let p99Nanoseconds: Int64
    public let maximumNanoseconds: Int64
  }

  /// Pings of the log that are in the capture.
  public private(set) var matched = 0
  public private(set) var answeredInBoth = 0
  public private(set) var lostInBoth = 0
  /// Pings of the log that failed before they became a packet, and are in the capture not either.
  public private(set) var notSent = 0
  /// Captured pings that were refused (RE01), which a drive log leaves out.
  public private(set) var refused = 0
  /// Captured pings that the log does not cover: sent before it began, or without a verdict yet when it ended.
  public private(set) var notCovered = 0
  /// Pings at the end of the log that a capture which was cut off does not cover.
  public private(set) var notCaptured = 0
  /// `nil` when no ping was answered in both.
  public let difference: Difference?
  /// In the order of time.
  public let disagreements: [Disagreement]

  /// A reply at the very end of the timeout may be in time by one stamp and late by another.
  private static let edge: Int64 = 1_000_000
  /// Two stamps of one packet are microseconds apart; more than this is another time, not another way of taking it.
  public static let mostOfOnePing: Duration = .milliseconds(1)

  /// A power cut costs a capture the time since it was last forced to disk, 4 s, and what the kernel still held.
  static let mostMissingAtEnd: Duration = .seconds(5)

  /// - Parameters:
  ///   - events: Of the drive log, of which the pings count.
  ///   - sequences: The numbers of pings on the wire, by index in `events`. Without any, pings are matched by their time.
  ///   - started: The wall time in the log's header.
  ///   - trips: What the capture shows.
  ///   - interval: From ping to ping.
  ///   - timeout: After it a reply counted as lost.
  ///   - hostLeads: By how much the host's clock was ahead of the drive's time, from when on.
  ///   - isCutOff: The capture was not completed, as by a kill or a power cut: its end may be missing.
  public init(
    events: [Event], sequences: [Int: UInt32] = [:], started: WallTime, trips: [RoundTrip],
    interval: Duration = .milliseconds(100), timeout: Duration = .seconds(1), isCutOff: Bool = false,
    hostLeads: [(at: DriveTime, lead: Duration)] = []
  ) {
    let pings = Self.pings(events, sequences, started)
    let timeout = timeout.inNanoseconds
    let alignment = Alignment(
      pings: pings.sorted { $0.at < $1.at }, trips: trips.filter { !Self.isRefusal($0, timeout) },
      interval: max(1000, interval.inNanoseconds), timeout: timeout)
    let pairs = alignment.pairs()
    let steps = ClockSteps(events, hostLeads: hostLeads)
    let lastEvent = events.map(\.at).max() ?? .start
    let end = isCutOff ? pairs.keys.max().map { alignment.pings[$0].at } : nil
    var differences: [Int64] = []
    var disagreements: [Disagreement] = []
    refused = trips.count - alignment.trips.count
    for (index, ping) in alignment.pings.enumerated() {
      let trip = pairs[index].map { alignment.trips[$0] }
      if let trip {
        matched += 1
        if ping.sequence != nil,
          !steps.explain(trip.sentAt.saturatingSubtracting(ping.wall), at: ping.at, within: interval)
        {
          disagreements.append(Disagreement(at: ping.at, kind: .sentAtAnotherTime))
        }
      }
      let captured = trip.flatMap(alignment.rtt)
      switch (ping.outcome, trip) {
      case (.failed(.network), nil): notSent += 1
      case (_, nil) where end.map({ ping.at > $0 && ping.at - $0 < Self.mostMissingAtEnd }) ?? false: notCaptured += 1
      case (_, nil): disagreements.append(Disagreement(at: ping.at, kind: .onlyInLog))
      case (.failed, _?) where captured.map({ $0 >= timeout.saturatingSubtracting(Self.edge) }) ?? true: lostInBoth += 1
      case (.failed, _?): disagreements.append(Disagreement(at: ping.at, kind: .answeredOnlyInCapture))
      case (.answered(let reported, _), let trip?):
        guard let captured = trip.rttNanoseconds, captured <= timeout.saturatingAdding(Self.edge) else {
          disagreements.append(Disagreement(at: ping.at, kind: .answeredOnlyInLog))
          break
        }
        answeredInBoth += 1
        let difference = reported.saturatingSubtracting(captured).saturatingMagnitude
        differences.append(difference)
        if difference > Self.mostOfOnePing.inNanoseconds {
          disagreements.append(Disagreement(at: ping.at, kind: .roundTripDiffers))
        }
      }
    }
    for trip in alignment.unpaired(pairs) {
      let at = WallTime(microseconds: trip.sentAt / 1000).since(started)
      if alignment.covers(trip, pairs, from: started, to: lastEvent) {
        disagreements.append(Disagreement(at: at, kind: .onlyInCapture))
      } else {
        notCovered += 1
      }
    }
    self.disagreements = disagreements.sorted { $0.at < $1.at }
    difference = Difference(differences.sorted())
  }

  private static func pings(_ events: [Event], _ sequences: [Int: UInt32], _ started: WallTime) -> [Alignment.Ping] {
    events.enumerated().compactMap { index, event in
      guard case .ping(let outcome) = event.kind else { return nil }
      guard let wall = (started + event.at).microseconds.exactlyMultiplied(by: 1000) else { return nil }
      return Alignment.Ping(at: event.at, wall: wall, outcome: outcome, sequence: sequences[index])
    }
  }

  /// A refusal after the timeout leaves the ping lost, as any reply does.
  private static func isRefusal(_ trip: RoundTrip, _ timeout: Int64) -> Bool {
    trip.isRefused && trip.rttNanoseconds.map { $0 <= timeout } ?? false
  }

  public func count(_ kind: Disagreement.Kind) -> Int { disagreements.count { $0.kind == kind } }

  /// Whether the capture bears the log out: each ping of the log that was sent is in the capture and the other way round,
  /// lost where it was lost, and the round-trip times agree within `limit` at the 99th of 100.
  public func agrees(within limit: Duration = .microseconds(50)) -> Bool {
    matched > 0 && disagreements.isEmpty && difference.map { $0.p99Nanoseconds <= limit.inNanoseconds } ?? true
  }
}

extension Alignment {
  func unpaired(_ pairs: [Int: Int]) -> [RoundTrip] {
    let paired = Set(pairs.values)
    return trips.enumerated().filter { !paired.contains($0.offset) }.map(\.element)
  }

  /// Whether the log should have the ping: not when it was sent before the drive, nor when it may have been under way at
  /// its end, for want of a verdict: a timeout before it, and an interval more, as verdicts take a moment to be written.
  /// - Parameter end: The last that the log tells of.
  func covers(_ trip: RoundTrip, _ pairs: [Int: Int], from started: WallTime, to end: DriveTime) -> Bool {
    guard let last = pairs.max(by: { $0.key < $1.key }) else { return true }
    let rest = (end - pings[last.key].at).inNanoseconds
    return trip.sentAt / 1000 >= started.microseconds
      && trip.sentAt
        < trips[last.value].sentAt.saturatingAdding(rest).saturatingSubtracting(timeout).saturatingSubtracting(interval)
  }
}

extension Verification.Difference {
  init?(_ sorted: [Int64]) {
    guard let maximum = sorted.last else { return nil }
    // The smallest that so many of a hundred do not exceed.
    func percentile(_ percent: Int) -> Int64 { sorted[(sorted.count * percent + 99) / 100 - 1] }
    self.init(
      count: sorted.count, p50Nanoseconds: percentile(50), p99Nanoseconds: percentile(99),
      maximumNanoseconds: maximum)
  }
}

extension Verification {
  /// The result for a person, line by line.
  public var lines: [String] {
    var lines = [
      "\(matched) pings in both: \(answeredInBoth) answered in both, \(lostInBoth) lost in both",
      "\(notSent) not sent, \(refused) refused, \(notCovered) captured before or after what the log covers",
    ]
    if notCaptured > 0 { lines.append("\(notCaptured) at the end of the log, when the capture had been cut off") }
    if let difference {
      let figures = [difference.p50Nanoseconds, difference.p99Nanoseconds, difference.maximumNanoseconds]
      let texts = figures.map { "\($0 / 1000).\($0 / 100 % 10)" }
      lines.append("round-trip times differ by p50 \(texts[0]), p99 \(texts[1]), max \(texts[2]) µs")
    }
    for kind in Disagreement.Kind.allCases {
      let found = disagreements.filter { $0.kind == kind }
      guard let first = found.first else { continue }
      let pings = found.count == 1 ? "1 ping" : "\(found.count) pings"
      lines.append("\(pings) \(kind.rawValue), the first at \(first.at.sinceStart.inSeconds) s")
    }
    return lines
  }
}

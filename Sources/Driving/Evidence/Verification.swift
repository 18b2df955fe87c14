import Coverage

/// The comparison of a drive log's pings with those of a capture. A pure value.
public struct Verification: Hashable, Sendable {
  /// A ping on which log and capture differ.
  public struct Disagreement: Hashable, Sendable {
    /// The kinds of disagreement; the raw values complete the sentence "2 pings ...".
    public enum Kind: String, Hashable, Sendable, CaseIterable {
      /// The log has a round-trip time, the capture no reply in time.
      case answeredOnlyInLog = "answered in the log, not in the capture"
      /// The capture shows a reply in time, the log has none.
      case answeredOnlyInCapture = "answered in the capture, not in the log"
      /// Answered in both, with round-trip times that differ by more than ``Verification/mostOfOnePing`` and the limit.
      case roundTripDiffers = "with another round-trip time in the capture"
      /// The log has a ping that was sent, the capture no packet of it.
      case onlyInLog = "in the log, not in the capture"
      /// The capture has a ping during the drive that the log does not have.
      case onlyInCapture = "in the capture, not in the log"
      /// In both, at times whose difference is not explained by the steps of the host's clock in the log.
      case sentAtAnotherTime = "at another time in the capture"
    }

    /// The ping's time in the log; for a ping that is in the capture only, by the wall clock.
    public let at: DriveTime
    /// How the two differ.
    public let kind: Kind
  }

  /// The absolute differences of the round-trip times of pings that were answered in both. Percentiles are by nearest rank.
  public struct Difference: Hashable, Sendable {
    /// The number of pings.
    public let count: Int
    /// The median.
    let p50Nanoseconds: Int64
    /// The 99th percentile.
    let p99Nanoseconds: Int64
    /// The largest difference.
    let maximumNanoseconds: Int64
  }

  /// Pings of the log that are in the capture.
  public private(set) var matched = 0
  /// Of ``matched``, those that were answered in time in both.
  private(set) var answeredInBoth = 0
  /// Of ``matched``, those that were not answered in time in either.
  private(set) var lostInBoth = 0
  /// Pings of the log that could not be sent; the capture does not have them.
  public private(set) var notSent = 0
  /// Captured pings that were refused (RE01); a drive log does not contain them.
  public private(set) var refused = 0
  /// Captured pings that the log does not cover: sent before its start, or without an outcome at its end.
  private(set) var notCovered = 0
  /// Pings at the end of the log that are missing because the capture was cut off.
  private(set) var notCaptured = 0
  /// The differences of the round-trip times; `nil` when no ping was answered in both.
  public let difference: Difference?
  /// The largest allowed 99th percentile of the differences.
  public let limit: Duration
  /// In the order of time.
  public let disagreements: [Disagreement]

  /// In nanoseconds. A reply this close to the timeout can be in time by one stamp and late by the other.
  private static let edge: Int64 = 1_000_000
  /// The largest difference of two measurements of the same ping, unless the limit of a verification is larger. Two stamps of one packet are
  /// microseconds apart, but on a virtual machine whose processor the host takes away between them, milliseconds.
  static let mostOfOnePing: Duration = .milliseconds(1)

  /// A power cut costs a capture the packets since the last sync, up to 4 s, and those in the kernel's buffer.
  static let mostMissingAtEnd: Duration = .seconds(5)

  /// Compares the pings of a drive log with those of a capture.
  /// - Parameters:
  ///   - events: The events of the drive log.
  ///   - sequences: The sequence numbers of pings on the wire, by index in `events`. Without any, pings are paired by time.
  ///   - started: The wall time in the log's header.
  ///   - trips: The pings of the capture.
  ///   - interval: The interval at which pings were sent.
  ///   - timeout: The time limit of an answer.
  ///   - isCutOff: Whether the capture was not completed, because of a kill or a power cut; its end can be missing.
  ///   - limit: The largest allowed 99th percentile of the differences between round-trip times.
  ///   - hostLeads: The leads of the host's clock over the drive's time, each from its time on.
  public init(
    events: [Event], sequences: [Int: UInt32] = [:], started: WallTime, trips: [RoundTrip],
    interval: Duration = .milliseconds(100), timeout: Duration = .seconds(1), isCutOff: Bool = false,
    limit: Duration = .microseconds(50), hostLeads: [(at: DriveTime, lead: Duration)] = []
  ) {
    let pings = Self.pings(events, sequences, started)
    notSent = events.reduce(0) { sum, event in
      if case .ping(.unsent(let count)) = event.kind { sum.saturatingAdding(count) } else { sum }
    }
    let timeout = timeout.inNanoseconds
    let alignment = Alignment(
      pings: pings.sorted { $0.at < $1.at }, trips: trips.filter { !Self.isRefusal($0, timeout) },
      interval: max(1000, interval.inNanoseconds), timeout: timeout)
    let pairs = alignment.pairs()
    let steps = ClockSteps(events, hostLeads: hostLeads)
    let lastEvent = events.map(\.at).max() ?? .start
    let most = max(Self.mostOfOnePing, limit).inNanoseconds
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
      // Counted above; where the target's host refused it, the capture has it.
      case (.unsent, _): break
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
        if difference > most {
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
    self.limit = limit
  }

  private static func pings(_ events: [Event], _ sequences: [Int: UInt32], _ started: WallTime) -> [Alignment.Ping] {
    events.enumerated().compactMap { index, event in
      guard case .ping(let outcome) = event.kind else { return nil }
      // A ping that this host did not send is in no capture. One that met a closed port was sent: it has a number.
      if case .unsent = outcome, sequences[index] == nil { return nil }
      guard let wall = (started + event.at).microseconds.exactlyMultiplied(by: 1000) else { return nil }
      return Alignment.Ping(at: event.at, wall: wall, outcome: outcome, sequence: sequences[index])
    }
  }

  /// Whether the ping was refused in time. A refusal after the timeout leaves the ping lost, like every late reply.
  private static func isRefusal(_ trip: RoundTrip, _ timeout: Int64) -> Bool {
    trip.isRefused && trip.rttNanoseconds.map { $0 <= timeout } ?? false
  }

  /// The number of disagreements of a kind.
  public func count(_ kind: Disagreement.Kind) -> Int { disagreements.count { $0.kind == kind } }

  /// Whether the capture confirms the log: both have the same pings with the same outcomes, and the 99th percentile of the differences of
  /// the round-trip times is at most ``limit``.
  public var agrees: Bool {
    matched > 0 && disagreements.isEmpty && difference.map { $0.p99Nanoseconds <= limit.inNanoseconds } ?? true
  }
}

extension Verification.Difference {
  init?(_ sorted: [Int64]) {
    guard let maximum = sorted.last else { return nil }
    self.init(
      count: sorted.count, p50Nanoseconds: sorted.nearestRank(50) ?? maximum,
      p99Nanoseconds: sorted.nearestRank(99) ?? maximum, maximumNanoseconds: maximum)
  }
}

extension Verification {
  /// The result for the operator, line by line.
  public var lines: [String] {
    var lines = [
      "\(matched) pings in both: \(answeredInBoth) answered in both, \(lostInBoth) lost in both",
      "\(notSent) not sent, \(refused) refused, \(notCovered) captured outside of the time that the log covers",
    ]
    if notCaptured > 0 { lines.append("\(notCaptured) at the end of the log, where the capture is cut off") }
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

/// The lead of the host's clock over the log's start time, at each moment of a drive, from the drive log. A pure value.
struct ClockSteps {
  /// The part of the lead that a drive log does not contain: smaller steps, and slewing since the last step.
  private static let unlogged: Duration = .seconds(1.1)
  /// The log can contain a step this late.
  private static let detectionDelay: Duration = .seconds(3)

  private var steps: [(at: DriveTime, sum: Duration)] = [(DriveTime(microseconds: .min), .zero)]

  /// - Parameters:
  ///   - events: The events of the drive log; each `clock_set` moves the drive's times.
  ///   - hostLeads: The leads of the host's clock over the drive's time, each from its time on; before the first one, zero.
  init(_ events: [Event], hostLeads: [(at: DriveTime, lead: Duration)] = []) {
    let moves = events.compactMap { event in
      if case .clockSet(let step) = event.kind { (at: event.at, step: step, lead: Duration?.none) } else { nil }
    }
    let leads = hostLeads.map { (at: $0.at, step: Duration.zero, lead: Optional($0.lead)) }
    var (sum, lead) = (Duration.zero, Duration.zero)
    for change in (moves + leads).sorted(by: { $0.at < $1.at }) {
      sum += change.step
      lead = change.lead ?? lead
      steps.append((change.at, sum + lead))
    }
  }

  /// Whether the clock explains that a ping's packet passed later than the log's time of it.
  /// - Parameters:
  ///   - nanoseconds: The difference of the two times; negative when the packet passed earlier.
  ///   - interval: The interval at which pings are sent: the longest delay of sending.
  func explain(_ nanoseconds: Int64, at time: DriveTime, within interval: Duration) -> Bool {
    let possible = steps.indices.filter { index in
      let isOver = index + 1 < steps.count && steps[index + 1].at < time
      return steps[index].at <= time + Self.detectionDelay && !isOver
    }
    return possible.contains { (.nanoseconds(nanoseconds) - steps[$0].sum).magnitude <= Self.unlogged + interval }
  }
}

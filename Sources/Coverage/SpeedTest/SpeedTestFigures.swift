/// The figures of a full speed test: what is stored, sent to the control server and exported. Its coded form is stored and read by later
/// builds.
public struct SpeedTestFigures: Hashable, Sendable, Codable {
  /// The measurement server, as it was addressed: a name or an address.
  public var server: String
  /// Its TCP port.
  public var port: UInt16
  /// The name that the control server gives it.
  public var serverName: String?
  /// The version in its greeting.
  public var serverVersion = ""
  /// `RMBT` or `RMBThttp`.
  public var kind: String
  /// The version of TLS and the cipher; `nil` for plain TCP.
  public var encryption: String?
  /// The address of this device, and of the server, as the connection had them.
  public var localAddress: String?
  /// The address of the server.
  public var serverAddress: String?
  /// The download; `nil` when it has no figure.
  public var download: SpeedTestRate?
  /// The upload; `nil` when it has no figure.
  public var upload: SpeedTestRate?
  /// The pings in order.
  public var pings: [SpeedTestPing] = []
  /// Whether the pre-test found a link too slow for several connections.
  public var fellBackToOne = false
  /// Bytes received and sent, pre-tests included.
  public var traffic = SpeedTestTraffic()
  /// Positions during the test, oldest first.
  public var places: [SpeedTestPlace] = []
  /// The modem's operator code, five or six digits.
  public var operatorCode: String?
  /// The modem's operator name.
  public var operatorName: String?
  /// The code of the operator that issued the SIM, five or six digits.
  public var simOperatorCode: String?
  /// The name of the operator that issued the SIM.
  public var simOperatorName: String?
  /// Whether the modem was roaming; `nil` when it is not known.
  public var isRoaming: Bool?
  /// The serving cell.
  public var cell: RadioCell?
  /// Timing advance and the cells beside the serving one; `nil` when they are not known.
  public var environment: RadioEnvironment?
  /// The level of the signal in dBm.
  public var signal: Double?
  /// The links that carried the test, in order: more than one when the link changed. `nil` when they are not known: an earlier build stored
  /// none.
  public var links: [SpeedTestLink]?
  /// Delay of the coverage pings just before the test, and during its parts.
  public var delays: [SpeedTestDelay] = []

  /// Figures of a test against this server, without any result.
  public init(server: String, port: UInt16, kind: String) {
    (self.server, self.port, self.kind) = (server, port, kind)
  }

  /// Whether ping, download and upload all have a figure above 0; without them, a control server refuses the result (docs/protocol.md, 6.2).
  public var isComplete: Bool {
    (shortestClientPing ?? 0) > 0 && (download?.kilobitsPerSecond ?? 0) > 0 && (upload?.kilobitsPerSecond ?? 0) > 0
  }

  /// Whether the download or the upload was interrupted.
  public var isInterrupted: Bool { download?.isInterrupted == true || upload?.isInterrupted == true }

  /// The client's least value of the pings in ns, `test_ping_shortest` of the wire; `nil` without a ping.
  public var shortestClientPing: Int64? { pings.map(\.client).min() }

  /// The least of the server's values in ns, of the same series as ``medianPing``; `nil` without a ping.
  public var shortestPing: Int64? { pings.map(\.server).min() }

  /// The median of the server's values in ns; of an even number, the mean of the two in the middle. `nil` without a ping.
  public var medianPing: Int64? { pings.map(\.server).median }
}

/// A ping of a speed test.
public struct SpeedTestPing: Hashable, Sendable, Codable {
  /// ns from before PING was written until PONG was read.
  public let client: Int64
  /// ns from PONG to OK, as the server measured.
  public let server: Int64
  /// ns since the start of the test.
  public let offset: Int64

  /// A ping.
  public init(client: Int64, server: Int64, offset: Int64) {
    (self.client, self.server, self.offset) = (client, server, offset)
  }
}

/// Bytes of a speed test on its connections, without those that TLS adds: all phases.
public struct SpeedTestTraffic: Hashable, Sendable, Codable {
  /// Bytes received.
  public var received: Int64 = 0
  /// Bytes sent.
  public var sent: Int64 = 0

  /// No bytes.
  public init() {}

  /// - Parameters:
  ///   - received: Bytes received.
  ///   - sent: Bytes sent.
  public init(received: Int64, sent: Int64) { (self.received, self.sent) = (received, sent) }

  /// The bytes of both.
  public func adding(_ other: SpeedTestTraffic) -> SpeedTestTraffic {
    SpeedTestTraffic(
      received: received.saturatingAdding(other.received), sent: sent.saturatingAdding(other.sent))
  }

  /// Both directions.
  public var total: Int64 { received.saturatingAdding(sent) }
}

/// A position during a speed test.
public struct SpeedTestPlace: Hashable, Sendable, Codable {
  /// When, by the selected clock.
  public let time: WallTime
  /// ns since the start of the test.
  public let offset: Int64
  /// Degrees north.
  public let latitude: Double
  /// Degrees east.
  public let longitude: Double
  /// Metres, 68 % radius.
  public let accuracy: Double?
  /// Metres.
  public let altitude: Double?
  /// Degrees from north, clockwise.
  public let course: Double?
  /// Metres a second.
  public let speed: Double?

  /// - Parameters:
  ///   - fix: The position; it must have a place.
  ///   - time: When, by the selected clock.
  ///   - offset: ns since the start of the test.
  public init?(_ fix: Fix, at time: WallTime, offset: Int64) {
    guard let coordinate = fix.coordinate else { return nil }
    (self.time, self.offset) = (time, offset)
    (latitude, longitude) = (coordinate.latitude, coordinate.longitude)
    (accuracy, altitude, course, speed) = (fix.accuracy, fix.altitude, fix.course, fix.speed)
  }
}

/// Round trips of the coverage pings in one part of a speed test: without load, and under it.
public struct SpeedTestDelay: Hashable, Sendable, Codable {
  /// The parts of a test that have a figure.
  public enum Part: String, Hashable, Sendable, Codable, CaseIterable {
    /// The 10 s before the test.
    case idle
    /// Under the load of the download.
    case download
    /// Under the load of the upload.
    case upload
  }

  /// The part.
  public let part: Part
  /// Pings that were sent in it and have an outcome.
  public let pings: Int
  /// Pings without an answer in time.
  public let lost: Int
  /// The median of the answered ones in ns; `nil` when none was answered.
  public let median: Int64?
  /// The 95th percentile of the answered ones in ns (nearest rank); `nil` for fewer than ``NearestRank/fewestFor95``.
  public let percentile95: Int64?

  /// Figures from round trips in ns.
  public init(_ part: Part, roundTrips: [Int64], lost: Int) {
    self.part = part
    pings = roundTrips.count.saturatingAdding(lost)
    self.lost = lost
    let sorted = roundTrips.sorted()
    median = sorted.nearestRank(50)
    percentile95 = sorted.count >= NearestRank.fewestFor95 ? sorted.nearestRank(95) : nil
  }
}

/// The result of one direction of a speed test.
public struct SpeedTestRate: Hashable, Sendable, Codable {
  /// kbit/s (1000 bit), rounded; `nil` without a common end, because every connection broke.
  public let kilobitsPerSecond: Int64?
  /// Bytes of all connections at the common end; `nil` as above.
  public let bytes: Int64?
  /// The common end, ns since the start of the phase; `nil` as above.
  public let nanoseconds: Int64?
  /// The start of the phase, ns since the start of the test.
  public let began: Int64
  /// The connections that took part, those that broke included.
  public let connections: Int
  /// Each connection's curve: pairs of ns since the start of the phase and all bytes until then. Thinned out, but not around the common
  /// end, so that the result follows from it.
  public let curves: [[[Int64]]]
  /// ns that the phase was to last; `nil` of a test of an earlier build.
  public let planned: Int64?
  /// The longest time of the planned phase in which no connection had a byte, ns; `nil` of a test of an earlier build.
  public let silence: Int64?
  /// The same in whole milliseconds, rounded.
  public var silenceMilliseconds: Int64? { silence.map { $0 / 1_000_000 + ($0 % 1_000_000 >= 500_000 ? 1 : 0) } }
  /// The connections that broke in the phase; `nil` of a test of an earlier build.
  public let broken: Int?

  /// A result with the given values.
  public init(
    kilobitsPerSecond: Int64?, bytes: Int64?, nanoseconds: Int64?, began: Int64, connections: Int, curves: [[[Int64]]],
    planned: Int64? = nil, silence: Int64? = nil, broken: Int? = nil
  ) {
    (self.kilobitsPerSecond, self.bytes, self.nanoseconds) = (kilobitsPerSecond, bytes, nanoseconds)
    (self.began, self.connections, self.curves) = (began, connections, curves)
    (self.planned, self.silence, self.broken) = (planned, silence, broken)
  }
}

/// What the rate does not say: it is one of the time until the common end, which a connection without an answer ends early.
extension SpeedTestRate {
  /// Below this share, the rate is one of a part of the phase. An upload may end a seventh before its time (docs/protocol.md, 7.5).
  static let leastShare = 0.85
  /// ns; a silence of this length or longer is an interruption, and no pause between two packets of a slow link.
  static let longSilence: Int64 = 2_000_000_000

  /// The share of the planned phase that the rate is of, 0 to 1; `nil` when it is not known.
  public var measuredShare: Double? {
    planned.flatMap { $0 > 0 ? min(max(Double(nanoseconds ?? 0) / Double($0), 0), 1) : nil }
  }

  /// Whether the rate is one of a part of the phase only.
  public var isPartial: Bool { measuredShare.map { $0 < Self.leastShare } ?? false }

  /// Whether the phase was interrupted: the rate is of a part of it, there was a long silence, or a connection broke.
  public var isInterrupted: Bool { isPartial || (silence ?? 0) >= Self.longSilence || (broken ?? 0) > 0 }

  /// kbit/s over the whole phase: the bytes of all connections until its end. For a phase of which a part was measured only, ``kilobitsPerSecond``
  /// is too high.
  public var kilobitsOfPhase: Int64 {
    let ends = curves.compactMap(\.last).filter { $0.count == 2 && $0[0] >= 0 && $0[1] >= 0 }
    let length = max(planned ?? 0, nanoseconds ?? 0, ends.map { $0[0] }.max() ?? 0, 1)
    let sum = ends.reduce(0.0) { $0 + Double($1[1]) }
    return Int64(saturating: (8e6 * sum / Double(length)).rounded()) ?? 0
  }
}

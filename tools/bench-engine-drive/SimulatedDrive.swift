import Coverage

/// A car's drive, with the same mix each hour: 36,000 pings and 3,600 fixes an hour at 13.4 m/s, the radio
/// technology changing every 45 s, a tunnel every ten minutes, Wi-Fi for half a minute every twenty, a new session every half hour.
/// One ping in a hundred is lost, and few are late or answered twice. The same seed gives the same drive.
struct SimulatedDrive {
  /// In the order in which an engine gets them: a ping when its outcome is known, other events when they happen.
  let events: [Event]
  /// Long enough for the whole drive.
  let parameters: Parameters

  init(hours: Int, seed: UInt64 = 1) {
    var parameters = Parameters()
    parameters.maximumDuration = .seconds(hours * 3600 + 60)
    self.parameters = parameters
    var road = Road(random: SplitMix64(seed: seed))
    for second in 0..<hours * 3600 { road.drive(through: second) }
    road.happen(at: DriveTime(.seconds(hours * 3600)), .stop(.user))
    events = road.inOrder
  }
}

/// Makes a drive, second by second.
private struct Road {
  var random: SplitMix64
  private var happenings: [(known: DriveTime, event: Event)] = []
  private var (latitude, longitude) = (48.2082, 16.3738)

  init(random: SplitMix64) { self.random = random }

  /// Stable, so that simultaneous events keep their order.
  var inOrder: [Event] {
    happenings.enumerated().sorted { ($0.element.known, $0.offset) < ($1.element.known, $1.offset) }.map(
      \.element.event)
  }

  mutating func happen(at time: DriveTime, _ kind: Event.Kind, known: DriveTime? = nil) {
    happenings.append((known ?? time, Event(at: time, kind)))
  }

  mutating func drive(through second: Int) {
    let now = DriveTime(.seconds(second))
    if second % 45 == 2 {
      happen(at: now + .milliseconds(431), .radio(Technology(["4G/LTE", "5G/NRNSA", "2G/EDGE"][second / 45 % 3])))
    }
    if second % 1800 == 1 {
      happen(at: now + .milliseconds(617), .session(SessionGrant(testUUID: "T\(second / 1800)", anchor: now)))
    }
    if second % 1200 == 900 { happen(at: now + .milliseconds(250), .path(.wifi)) }
    if second % 1200 == 930 { happen(at: now + .milliseconds(250), .path(.cellular)) }
    happen(at: now + .milliseconds(212), .fix(nextFix(isInTunnel: second % 600 >= 580)))
    for tenth in 0..<10 { ping(at: now + .microseconds(tenth * 100_000 + 37)) }
  }

  private mutating func nextFix(isInTunnel: Bool) -> Fix {
    latitude += 0.000_1 + 0.000_02 * random.fraction()
    longitude += 0.000_06 * random.fraction()
    return Fix(
      coordinate: Coordinate(latitude: latitude, longitude: longitude),
      accuracy: isInTunnel ? 40 : Self.rounded(2 + 4 * random.fraction()),
      altitude: Self.rounded(170 + random.fraction()),
      course: Self.rounded(10 + random.fraction()), speed: Self.rounded(13 + random.fraction()))
  }

  /// Receivers report decimals.
  private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }

  private mutating func ping(at sent: DriveTime) {
    let rtt = Int64(20_000_000 + 30_000_000 * random.fraction() * random.fraction())
    let answered = sent + .nanoseconds(rtt)
    switch random.next() % 1000 {
    case 0..<10:
      happen(at: sent, .ping(.failed(.timeout)), known: sent + .seconds(1))
    case 10..<12:
      happen(at: sent, .ping(.failed(.timeout)), known: sent + .seconds(1))
      happen(at: sent, .late(rttNanoseconds: rtt + 1_200_000_000), known: answered + .milliseconds(1200))
    case 12..<13:
      happen(at: sent, .ping(.answered(rttNanoseconds: rtt, isKernelStamped: true)), known: answered)
      happen(at: sent, .duplicate, known: answered + .milliseconds(1))
    default:
      happen(at: sent, .ping(.answered(rttNanoseconds: rtt, isKernelStamped: true)), known: answered)
    }
  }
}

extension SplitMix64 {
  /// At least 0, below 1.
  fileprivate mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }
}

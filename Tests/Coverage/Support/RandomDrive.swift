import TestSupport

@testable import Coverage

/// A random drive with all kinds of events, in any order that can really occur.
///
/// Places are whole metres on the flat ground of the equator, and all radii end in a half: no place comes nearer to any
/// circle than two millimetres, so that the oracle's Pythagoras and the engine's geodesics never disagree by rounding.
struct RandomDrive {
  struct Place {
    let north: Int
    let east: Int
  }

  /// An event, and the place of its fix in whole metres.
  typealias Step = (event: Event, place: Place?)

  let seed: UInt64
  private(set) var steps: [Step] = []
  let parameters: Parameters
  let initialPath: Path

  private var random: SeededGenerator
  private var now: Int64 = 0
  private var place = Place(north: 0, east: 0)
  /// Results of pings that have not arrived yet: pings overtake each other.
  private var pending: [(arrival: Int64, ping: Event)] = []
  private let disorder: Bool
  /// All timestamps are multiples of this: in some drives, many events have the same time.
  private let grain: Int64

  /// - Parameters:
  ///   - count: The minimum number of events; by default random, 150 on average.
  ///   - disorder: Gives all events random timestamps in the past and in the future, as no clock would.
  init(seed: UInt64, count: Int? = nil, disorder: Bool = false) {
    var random = SeededGenerator(seed: seed)
    var parameters = Parameters()
    parameters.minimumRadius = Double(Int.random(in: 10...40, using: &random)) + 0.5
    parameters.giveUpAfter = .seconds(Int.random(in: 5...60, using: &random))
    parameters.maximumDuration = .seconds(Int.random(in: 20...300, using: &random))
    parameters.warningAfter = .seconds(Int.random(in: 1...90, using: &random))
    parameters.pingInterval = .milliseconds(Int.random(in: 10...300, using: &random))
    // TimeTests checks that a warning does not change fences in disorder.
    if disorder { parameters.warningAfter = .seconds(100_000) }
    initialPath = Path.allCases.randomElement(using: &random) ?? .cellular
    grain = [1, 1000, 50_000].randomElement(using: &random) ?? 1
    (self.seed, self.parameters, self.disorder) = (seed, parameters, disorder)
    let count = count ?? Int.random(in: 1...300, using: &random)
    self.random = random
    while steps.count < count { step() }
  }

  private mutating func step() {
    now += Int64.random(in: 1...150_000, using: &random)
    // The host was suspended, or no event came.
    if Int.random(in: 0..<300, using: &random) == 0 { now += Int64.random(in: 0...40_000_000, using: &random) }
    for (_, ping) in pending.filter({ $0.arrival <= now }).sorted(by: { $0.arrival < $1.arrival }) {
      steps.append((ping, nil))
    }
    pending.removeAll { $0.arrival <= now }
    switch Int.random(in: 0..<1_000, using: &random) {
    case 0..<700: send()
    case 700..<920: fix()
    case 920..<929: add(.modem(modem()))
    case 929: add(.equipment(.sample))
    case 930..<960: add(.radio(["4G/LTE", "5G/NR", nil].randomElement(using: &random)?.map { Technology($0) }))
    case 960..<965: add(.unmeasured(Bool.random(using: &random) ? "x" : nil))
    case 965..<980: add(.path(Path.allCases.randomElement(using: &random) ?? .cellular))
    case 980..<996: session()
    case 996..<998: add(.clockSet(by: .milliseconds(Int64.random(in: -100_000_000...100_000_000, using: &random))))
    default: if Int.random(in: 0..<4, using: &random) == 0 { add(.stop(.user)) }
    }
  }

  private mutating func add(_ kind: Event.Kind, _ place: Place? = nil) {
    steps.append((Event(at: moment(), kind), place))
  }

  private mutating func modem() -> ModemReading? {
    guard Int.random(in: 0..<8, using: &random) > 0 else { return nil }
    var reading = ModemReading()
    reading.signal = [.rsrp: Double(Int.random(in: -130 ... -60, using: &random))]
    reading.cell = RadioCell()
    reading.cell?.identity = Int64.random(in: 1...3, using: &random)
    return reading
  }

  private mutating func moment() -> DriveTime {
    let shift = disorder ? Int64.random(in: -2_000_000...500_000, using: &random) : 0
    return DriveTime(microseconds: (now + shift) / grain * grain)
  }

  private mutating func send() {
    let sent = moment()
    let wait = Int64.random(in: 1...1_000_000, using: &random)
    func become(_ kind: Event.Kind, after wait: Int64) { pending.append((now + wait, Event(at: sent, kind))) }
    switch Int.random(in: 0..<20, using: &random) {
    case 0: become(.ping(.failed(.network)), after: 1)
    case 1: become(.ping(.failed(.timeout)), after: 1_000_000)
    case 2:
      become(.ping(.failed(.timeout)), after: 1_000_000)
      become(.late(rttNanoseconds: (wait + 1_000_000) * 1000), after: wait + 1_000_000)
    case 3: become(.ping(.unsent(count: Int.random(in: 1...3, using: &random))), after: 1)
    default:
      become(.ping(.answered(rttNanoseconds: wait * 1000 + 7, isKernelStamped: wait % 3 > 0)), after: wait)
      if wait % 10 == 0 { become(.duplicate, after: wait + Int64.random(in: 1...3_000_000, using: &random)) }
    }
  }

  private mutating func fix() {
    let jump = Int.random(in: 0..<30, using: &random) == 0 ? 500 : 12
    place = Place(
      north: min(900, max(-900, place.north + Int.random(in: -jump...jump, using: &random))),
      east: min(900, max(-900, place.east + Int.random(in: -jump...jump, using: &random))))
    let accuracy: Double? =
      switch Int.random(in: 0..<20, using: &random) {
      case 0: nil
      case 1: -1
      case 2...3: 15.5
      default: Double(Int.random(in: 0...14, using: &random)) + 0.25
      }
    let speed: Double? = Bool.random(using: &random) ? Double(Int.random(in: 0...60, using: &random)) + 0.5 : nil
    let isLost = Int.random(in: 0..<40, using: &random) == 0
    let coordinate = isLost ? nil : Ground.equator.place(north: Double(place.north), east: Double(place.east))
    add(.fix(Fix(coordinate: coordinate, accuracy: accuracy, speed: speed)), isLost ? nil : place)
  }

  private mutating func session() {
    let name = "T\(Int.random(in: 0...5, using: &random))"
    let limit: Duration? =
      Int.random(in: 0..<10, using: &random) == 0 ? .seconds(Int.random(in: 20...300, using: &random)) : nil
    let asked = Int64.random(in: 0...2_999_999, using: &random)
    let anchor = Bool.random(using: &random) ? DriveTime(microseconds: now - asked) : nil
    add(.session(SessionGrant(testUUID: name, anchor: anchor, maximumDuration: limit)))
  }
}

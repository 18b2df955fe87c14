import Coverage
import TestSupport
import Testing

@testable import Report

/// The figures of single pings, against a model that finds the fence of each ping.
@Suite struct LogFiguresTests {
  private struct Drive {
    var path: Path
    var fences: [Range<DriveTime>]
    var events: [Event]
  }

  private static let place = Coordinate(latitude: 48, longitude: 16)

  /// A drive of some seconds, with pings out of order, losses, changes of the path and positions of all kinds.
  private static func drive(_ random: inout SeededGenerator) -> Drive {
    var (fences, events, at): ([Range<DriveTime>], [Event], Double) = ([], [], 1)
    for _ in 0..<8 {
      let length = Double(Int.random(in: 1...30, using: &random)) / 10
      fences.append(.seconds(at) ..< .seconds(at + length))
      at += length + (Bool.random(using: &random) ? 0 : 0.5)
    }
    for tenth in 0..<Int(at * 10 + 10) {
      let now = Double(tenth) / 10
      switch Int.random(in: 0..<20, using: &random) {
      case 0: events.append(Event(at: .seconds(now), .path(Bool.random(using: &random) ? .wifi : .cellular)))
      case 1:
        let accuracy = [3, 15, 15.5, nil].randomElement(using: &random) ?? nil
        events.append(Event(at: .seconds(now), .fix(Fix(coordinate: place, accuracy: accuracy))))
      case 2: events.append(Event(at: .seconds(now), .fix(.lost)))
      case 3: events.append(Event(at: .seconds(now), .clockSet(by: .seconds(Bool.random(using: &random) ? 2 : -3))))
      case 4...6: events.append(Event(at: .seconds(now), .ping(.failed(.timeout))))
      case 7: events.append(Event(at: .seconds(now), .late(rttNanoseconds: 5)))
      default:
        let delay = Int64.random(in: 1...900_000_000, using: &random)
        // An answer is logged on arrival, with the time at which its ping was sent.
        events.insert(
          Event(at: .seconds(now), .ping(.answered(rttNanoseconds: delay, isKernelStamped: tenth.isMultiple(of: 2)))),
          at: max(0, events.count - Int.random(in: 0...1, using: &random)))
      }
    }
    return Drive(path: Bool.random(using: &random) ? .wifi : .cellular, fences: fences, events: events)
  }

  private struct Expected: Equatable {
    var delays: [Int64] = []
    var variations: [Int64] = []
    var stamped = 0
    var longestLoss = 0
    var fixes = [0, 0, 0]
    var steps = 0
  }

  private static func expected(_ drive: Drive) -> Expected {
    var (expected, isWifi, isAccurate): (Expected, Bool, Bool) = (Expected(), drive.path == .wifi, true)
    var pings: [(at: DriveTime, delay: Int64?, stamped: Bool)] = []
    var bad: [(from: DriveTime, to: DriveTime?)] = []
    for event in drive.events {
      switch event.kind {
      case .path(let path): isWifi = path == .wifi
      case .fix(let fix):
        let now = fix.coordinate != nil && (fix.accuracy ?? 100) <= 15
        if isAccurate, !now { bad.append((event.at, nil)) }
        if !isAccurate, now { bad[bad.count - 1].to = event.at }
        isAccurate = now
        guard event.at >= drive.fences[0].lowerBound, event.at <= drive.fences[7].upperBound else { break }
        expected.fixes[0] += 1
        if fix.coordinate == nil { expected.fixes[2] += 1 } else if !now { expected.fixes[1] += 1 }
      case .ping(.answered(let delay, let stamped)) where !isWifi: pings.append((event.at, delay, stamped))
      case .ping(.failed) where !isWifi: pings.append((event.at, nil, false))
      case .clockSet: expected.steps += 1
      default: break
      }
    }
    pings.sort { $0.at < $1.at }
    var (last, run): ((fence: Int, at: DriveTime, delay: Int64?)?, Int) = (nil, 0)
    for ping in pings {
      guard let fence = drive.fences.firstIndex(where: { $0.lowerBound < ping.at && ping.at < $0.upperBound }),
        !bad.contains(where: { $0.from < ping.at && ping.at < ($0.to ?? .seconds(1e6)) })
      else { continue }
      run = ping.delay == nil ? run + 1 : 0
      expected.longestLoss = max(expected.longestLoss, run)
      if let delay = ping.delay {
        expected.delays.append((delay + 500) / 1000)
        expected.stamped += ping.stamped ? 1 : 0
        if let last, last.fence == fence, ping.at - last.at <= .milliseconds(150), let former = last.delay {
          expected.variations.append((abs(delay - former) + 500) / 1000)
        }
      }
      last = (fence, ping.at, ping.delay)
    }
    expected.delays.sort()
    expected.variations.sort()
    return expected
  }

  private static func sorted(_ counts: DelayCounts) -> [Int64] {
    counts.microseconds(atRanks: Array(1...max(1, counts.count))).compactMap(\.self)
  }

  @Test("when logs have random events of all kinds, then each figure equals that of the model")
  func model() throws {
    for seed in 0..<UInt64(min(200, RandomOrders.count)) {
      var random = SeededGenerator(seed: seed)
      let drive = Self.drive(&random)
      var figures = LogFigures()
      try figures.add(fences: drive.fences, parameters: Parameters(), initialPath: drive.path) {
        try drive.events.forEach($0)
      }
      let found = Expected(
        delays: Self.sorted(figures.delays), variations: Self.sorted(figures.variations),
        stamped: figures.kernelStamped, longestLoss: figures.longestLoss,
        fixes: [figures.fixes.all, figures.fixes.refused, figures.fixes.lost], steps: figures.clockSteps)
      #expect(found == Self.expected(drive), "seed \(seed)")
    }
  }

  private func answered(_ at: Double, _ nanoseconds: Int64 = 20_000_000) -> Event {
    Event(at: .seconds(at), .ping(.answered(rttNanoseconds: nanoseconds)))
  }

  @Test(
    "when two logs are added, then their pings and steps add up, and a run of losses does not cross from one to the other"
  )
  func twoLogs() throws {
    var figures = LogFigures()
    let fences = [DriveTime.seconds(1) ..< .seconds(5)]
    for _ in 0..<2 {
      let lost = [2, 3].map { Event(at: .seconds($0), .ping(.failed(.timeout))) }
      let step = Event(at: .seconds(3.5), .clockSet(by: .seconds(-2)))
      try figures.add(fences: fences, parameters: Parameters(), initialPath: .cellular) { body in
        try ([answered(1.5)] + lost + [step]).forEach(body)
      }
    }
    #expect(figures.logs == 2 && figures.delays.count == 2 && figures.longestLoss == 2)
    #expect(figures.clockSteps == 2 && figures.clockStepMicroseconds == 4_000_000)
  }

  @Test("when pings are in different fences, or a ping between them was lost, then they have no variation")
  func variation() throws {
    func variations(_ events: [Event]) throws -> [Int64] {
      var figures = LogFigures()
      try figures.add(
        fences: [.seconds(1) ..< .seconds(2), .seconds(2) ..< .seconds(3)], parameters: Parameters(),
        initialPath: .cellular
      ) {
        try events.forEach($0)
      }
      return Self.sorted(figures.variations)
    }
    #expect(try variations([answered(1.1), answered(1.2, 50_000_000)]) == [30_000])
    #expect(try variations([answered(1.9), answered(2.1, 50_000_000)]) == [])
    let lost = Event(at: .seconds(1.2), .ping(.failed(.timeout)))
    #expect(try variations([answered(1.1), lost, answered(1.3, 50_000_000)]) == [])
    #expect(try variations([answered(1.1), answered(1.25, 50_000_000)]) == [30_000])
    #expect(try variations([answered(1.1), answered(1.251, 50_000_000)]) == [], "a ping between them counts elsewhere")
  }

  @Test("when a clock steps by the largest duration, twice, then the sum stops at the limit")
  func largestStep() throws {
    var figures = LogFigures()
    let step = Event(at: .seconds(2), .clockSet(by: .microseconds(Int64.min)))
    try figures.add(fences: [.seconds(1) ..< .seconds(3)], parameters: Parameters(), initialPath: .cellular) { body in
      try body(step)
      try body(step)
    }
    #expect(figures.clockSteps == 2 && figures.clockStepMicroseconds == .max)
  }

  @Test("when there are no fences, then no ping counts, but the log does")
  func noFences() throws {
    var figures = LogFigures()
    try figures.add(fences: [], parameters: Parameters(), initialPath: .cellular) { try $0(answered(1)) }
    #expect(figures.delays.count == 0 && figures.logs == 1)
  }
}

import Coverage
import TestSupport
import Testing

@testable import Positioning

/// A receiver on a line to the north. Its positions are in metres from the start of the line.
private struct Receiver {
  var filter: JumpFilter

  init(maximumSpeed: Double = 50) { filter = JumpFilter(maximumSpeed: maximumSpeed) }

  mutating func accepts(metres: Double, at seconds: Double, accuracy: Double = 0) throws -> Bool {
    // A degree of latitude is 111195 m on the mean sphere and 111.2 km hereabouts on the ellipsoid.
    let place = try #require(Coordinate(latitude: 48 + metres / 111_200, longitude: 16))
    return filter.accepts(place, accuracy: accuracy, at: TestTime.at(seconds).instant)
  }
}

@Suite struct JumpFilterTests {
  @Test func `when a position is within reach in the time, then it counts`() throws {
    var receiver = Receiver()
    #expect(try receiver.accepts(metres: 0, at: 0))
    #expect(try receiver.accepts(metres: 49, at: 1))
    #expect(try receiver.accepts(metres: 0, at: 2))
    #expect(try receiver.accepts(metres: 490, at: 12))
  }

  @Test func `when a position is out of reach, then it is refused, and the next one within reach counts`() throws {
    var receiver = Receiver()
    #expect(try receiver.accepts(metres: 0, at: 0))
    #expect(try !receiver.accepts(metres: 1000, at: 1))
    #expect(receiver.filter.isInDoubt)
    #expect(try receiver.accepts(metres: 20, at: 2))
    #expect(!receiver.filter.isInDoubt)
  }

  @Test func `when both positions are inaccurate, then both accuracies extend the reach`() throws {
    var receiver = Receiver()
    #expect(try receiver.accepts(metres: 0, at: 0, accuracy: 30))
    #expect(try !receiver.accepts(metres: 102, at: 1, accuracy: 20))
    #expect(try receiver.accepts(metres: 98, at: 1, accuracy: 20))
  }

  @Test func `when the position stays at the new place, then the third one there is accepted`() throws {
    var receiver = Receiver()
    #expect(try receiver.accepts(metres: 0, at: 0))
    #expect(try !receiver.accepts(metres: 100_000, at: 1))
    #expect(try !receiver.accepts(metres: 100_030, at: 2))
    #expect(try receiver.accepts(metres: 100_060, at: 3))
    #expect(try receiver.accepts(metres: 100_090, at: 4))
    #expect(try !receiver.accepts(metres: 0, at: 5), "now the old place is out of reach")
  }

  @Test func `when positions jump about, then all of them are refused`() throws {
    var receiver = Receiver()
    #expect(try receiver.accepts(metres: 0, at: 0))
    for second in 1...20 {
      let metres = second.isMultiple(of: 2) ? 100_000.0 : -100_000
      #expect(try !receiver.accepts(metres: metres, at: Double(second)))
    }
    #expect(try receiver.accepts(metres: 0, at: 21))
  }

  @Test func `when positions were delayed, then the receiver's time counts, unless its date stepped`() throws {
    func verdict(receiverSeconds: Double) throws -> Bool {
      var filter = JumpFilter(maximumSpeed: 50)
      func accepts(_ metres: Double, _ arrival: Double, _ seconds: Double) throws -> Bool {
        let place = try #require(Coordinate(latitude: 48 + metres / 111_200, longitude: 16))
        let time = TestTime.wallOrigin + DriveTime(.seconds(seconds))
        return filter.accepts(place, accuracy: 0, at: TestTime.at(arrival).instant, time: time)
      }
      #expect(try accepts(0, 0, 0))
      return try accepts(40, 0.05, receiverSeconds)
    }
    #expect(try verdict(receiverSeconds: 1))
    #expect(try verdict(receiverSeconds: 30), "the longest delay on the way")
    #expect(try !verdict(receiverSeconds: 30.1))
    #expect(try !verdict(receiverSeconds: 0.05))
    #expect(try !verdict(receiverSeconds: -100))
    #expect(try !verdict(receiverSeconds: 619_315_200))
  }

  @Test func `when the last position was long ago, then a distant one counts`() throws {
    var receiver = Receiver()
    #expect(try receiver.accepts(metres: 0, at: 0))
    #expect(try receiver.accepts(metres: 2_900, at: 60))
  }

  @Test func `when time stands still or goes back, then only the accuracies extend the reach`() throws {
    var receiver = Receiver()
    #expect(try receiver.accepts(metres: 0, at: 10, accuracy: 5))
    #expect(try receiver.accepts(metres: 9, at: 10, accuracy: 5))
    #expect(try !receiver.accepts(metres: 30, at: 5, accuracy: 5))
  }
}

/// Properties of random drives.
@Suite struct JumpFilterPropertyTests {
  /// The place, time and verdict of 100 positions, for each of 100 drives.
  private func drives(
    _ next: (inout SeededGenerator, _ last: Spot) -> Spot
  ) throws -> [[(spot: Spot, isAccepted: Bool, wasInDoubt: Bool)]] {
    var generator = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    return try (0..<100).map { _ in
      var receiver = Receiver()
      var spot = Spot(metres: 0, seconds: 0)
      return try (0..<100).map { _ in
        let wasInDoubt = receiver.filter.isInDoubt
        let isAccepted = try receiver.accepts(metres: spot.metres, at: spot.seconds)
        defer { spot = next(&generator, spot) }
        return (spot, isAccepted, wasInDoubt)
      }
    }
  }

  private struct Spot {
    var metres: Double
    var seconds: Double
    var isFalse = false
  }

  @Test func `when a drive is never too fast, then every position is accepted`() throws {
    let drives = try drives { generator, last in
      let step = Double.random(in: 0.1...5, using: &generator)
      // 49.5: distances on the ellipsoid differ by up to a hundredth from those of the test's degree.
      let way = Double.random(in: -49.5...49.5, using: &generator) * step
      return Spot(metres: last.metres + way, seconds: last.seconds + step)
    }
    #expect(drives.joined().allSatisfy { $0.isAccepted })
  }

  @Test func `when single positions are wrong, then they are refused and all true ones are accepted`() throws {
    let drives = try drives { generator, last in
      let isFalse = !last.isFalse && last.seconds > 0 && Int.random(in: 0..<4, using: &generator) == 0
      let seconds = last.seconds + 1
      return Spot(metres: seconds * 20 + (isFalse ? 5_000 : 0), seconds: seconds, isFalse: isFalse)
    }
    #expect(drives.joined().allSatisfy { $0.isAccepted != $0.spot.isFalse })
    #expect(drives.joined().contains { $0.spot.isFalse })
  }

  @Test func `when positions are accepted in a row without a doubt, then each is within reach of the last`() throws {
    let drives = try drives { generator, last in
      Spot(
        metres: .random(in: 0...500, using: &generator), seconds: last.seconds + .random(in: 0.1...2, using: &generator)
      )
    }
    for drive in drives {
      let accepted = drive.filter(\.isAccepted)
      let isReached = zip(accepted, accepted.dropFirst()).map { last, next in
        next.wasInDoubt || abs(next.spot.metres - last.spot.metres) <= 50.5 * (next.spot.seconds - last.spot.seconds)
      }
      #expect(isReached.allSatisfy { $0 })
      #expect(accepted.count < drive.count)
    }
  }

  @Test func `when a receiver comes to rest after any positions, then it is accepted within three positions`() throws {
    var generator = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    for _ in 0..<200 {
      var receiver = Receiver()
      var seconds = 0.0
      for _ in 0..<Int.random(in: 0...20, using: &generator) {
        seconds += .random(in: 0...3, using: &generator)
        let metres = Double.random(in: -1e6...1e6, using: &generator)
        _ = try receiver.accepts(metres: metres, at: seconds, accuracy: .random(in: 0...100, using: &generator))
      }
      let rest = Double.random(in: -1e6...1e6, using: &generator)
      let verdicts = try (1...10).map { try receiver.accepts(metres: rest, at: seconds + Double($0)) }
      #expect(verdicts.dropFirst(2).allSatisfy { $0 })
    }
  }
}

@Suite struct FixFilterJumpTests {
  private func filter(maximumSpeed: Double?) -> FixFilter {
    FixFilter(configuration: .init(maximumSpeed: maximumSpeed), startingAt: TestTime.origin)
  }

  /// One report a second at these latitudes.
  private func drive(_ filter: inout FixFilter, _ latitudes: [Double]) -> [PositioningEvent] {
    latitudes.enumerated().flatMap { index, latitude in
      filter.apply(.usable(latitude: latitude, seconds: Double(index)), at: Double(index))
    } + filter.advance(to: Double(latitudes.count) - 0.5)
  }

  @Test func `when no maximum speed is set, then every jump counts`() {
    var filter = filter(maximumSpeed: nil)
    let events = drive(&filter, [48, 49, 48])
    #expect(events.fixes.count == 3)
    #expect(filter.counters[.jumps] == 0)
    #expect(filter.counters.refusals == nil)
  }

  @Test func `when a position jumps, then it is refused and counted`() {
    var filter = filter(maximumSpeed: 60)
    let events = drive(&filter, [48, 48.0001, 49, 48.0003])
    #expect(events.fixes.map(\.fix.coordinate?.latitude) == [48, 48.0001, 48.0003])
    #expect((filter.counters[.fixes], filter.counters[.jumps]) == (3, 1))
    #expect(filter.counters.refusals == "1 out of reach")
  }

  @Test func `when a position is made of many reports, then it counts once towards a new place`() {
    var filter = filter(maximumSpeed: 60)
    _ = filter.apply(.usable(latitude: 48, seconds: 0), at: 0)
    var fixes: [PositionedFix] = []
    for tenth in 10..<40 {
      fixes += filter.apply(.usable(latitude: 49, seconds: Double(tenth / 10)), at: Double(tenth) / 10).fixes
    }
    fixes += filter.advance(to: 4.5).fixes
    #expect(fixes.map(\.fix.coordinate?.latitude) == [48, 49])
    #expect(filter.counters[.jumps] == 2)
  }

  @Test func `when positions only jump about, then the position is lost`() {
    var filter = filter(maximumSpeed: 60)
    let events = drive(&filter, (0..<10).map { $0 == 0 ? 48 : $0.isMultiple(of: 2) ? 47 : 49 })
    #expect(events.fixes.map { $0.fix == .lost } == [false, true])
    #expect(events.statuses.contains(.noFix))
  }

  @Test func `when the position is back in reach as the time to its loss ends, then it is not lost`() {
    var filter = filter(maximumSpeed: 60)
    // The first jump still postpones the loss, to 6 s.
    _ = drive(&filter, [48, 49, 47, 49, 47, 49])
    _ = filter.apply(.usable(latitude: 48, seconds: 5.9), at: 5.9)
    let events = filter.advance(to: 6)
    #expect(events.fixes.map(\.fix.coordinate?.latitude) == [48])
    #expect(events.statuses.isEmpty)
    #expect(filter.advance(to: 20).fixes.map(\.fix) == [.lost])
  }
}

@Suite struct PositioningCountersTests {
  @Test func `when no position was refused, then there is no list of refusals`() {
    var counters = PositioningCounters()
    (counters[.tpv], counters[.noFix], counters[.otherDevice], counters[.merged], counters[.losses]) = (
      100, 10, 10, 10, 1
    )
    #expect(counters.refusals == nil)
  }

  @Test func `when positions were refused, then each reason is listed with its count`() {
    var counters = PositioningCounters()
    (counters[.withoutPosition], counters[.outOfRange], counters[.nullIsland]) = (1, 2, 3)
    (counters[.surveyed], counters[.simulated], counters[.stragglers], counters[.jumps]) = (7, 4, 5, 6)
    #expect(
      counters.refusals
        == "1 incomplete, 2 not on Earth, 3 at 0,0, 7 surveyed, 4 simulated, 5 too late, 6 out of reach")
  }

  @Test func `when a receiver's date is wrong, then its fixes count, and their wrong times are counted`() {
    var filter = FixFilter.fresh()
    for second in 0..<5 {
      _ = filter.apply(.usable(seconds: Double(second) + 619_315_200), at: Double(second))
    }
    _ = filter.advance(to: 5)
    #expect((filter.counters[.fixes], filter.counters[.wrongTimes]) == (5, 5))
  }

  @Test func `when reports are merged into one fix, then they are counted`() {
    var filter = FixFilter.fresh()
    for tenth in 0..<4 { _ = filter.apply(.usable(seconds: 1), at: 1 + Double(tenth) / 10) }
    _ = filter.advance(to: 2)
    #expect((filter.counters[.tpv], filter.counters[.merged], filter.counters[.fixes]) == (4, 3, 1))
  }

  @Test func `when a refused position disagrees with the one before, then the count begins again`() throws {
    var receiver = Receiver()
    #expect(try receiver.accepts(metres: 0, at: 0))
    #expect(try !receiver.accepts(metres: 100_000, at: 1))
    #expect(try !receiver.accepts(metres: -100_000, at: 2))
    #expect(try !receiver.accepts(metres: -100_030, at: 3))
    #expect(try receiver.accepts(metres: -100_060, at: 4))
  }

  @Test func `when a position comes twice at the same time, then it is within reach without any accuracy`() throws {
    var receiver = Receiver()
    #expect(try receiver.accepts(metres: 7, at: 1))
    #expect(try receiver.accepts(metres: 7, at: 1))
  }
}

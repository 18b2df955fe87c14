import Coverage
import Testing

@testable import Positioning

/// A receiver. The test sets its clock and its delay to the host.
private struct Stream {
  var pace = ReceiverPace()

  /// - Parameters:
  ///   - time: The receiver's time, in seconds from the wall clock's origin.
  ///   - wall: How far the host's wall clock is ahead.
  mutating func isCurrent(_ time: Double, at now: Double, wall: Double = 0) -> Bool {
    let host = HostTime(
      instant: TestTime.at(now).instant, wall: TestTime.at(now).wall + DriveTime(.milliseconds(Int64(wall * 1000))))
    return pace.check(TestTime.wallOrigin + DriveTime(microseconds: Int64(time * 1e6)), at: host) == .current
  }

  /// A receiver that has been right for some seconds, with a delay of 0.3 s.
  static func running(for seconds: Int = 20, wall: Double = 0) -> Stream {
    var stream = Stream()
    for second in 0...seconds { _ = stream.isCurrent(Double(second), at: Double(second) + 0.3, wall: wall) }
    return stream
  }
}

@Suite struct ReceiverPaceTests {
  @Test func `when positions come after a stall, then those more than two seconds old are refused`() {
    var stream = Stream.running()
    // 15 s of silence, then the position of one second each 50 ms.
    let verdicts = (0..<16).map { stream.isCurrent(21 + Double($0), at: 35.3 + Double($0) * 0.05) }
    #expect(verdicts == Array(repeating: false, count: 13) + [true, true, true])
  }

  @Test(
    "when a stream begins with a backlog, then no old position counts, and the first present one does",
    arguments: [0.0, 0.05, 0.2, 0.5, 0.8])
  func backlogAtTheStart(step: Double) {
    var stream = Stream()
    // 15 positions, a second apart, from 15 s ago; each is read `step` later. Then the positions that came meanwhile,
    // then one a second.
    var now = 15.3
    for time in 0..<200 {
      now = max(now + step, Double(time) + 0.3)
      let age = now - Double(time)
      let isCurrent = stream.isCurrent(Double(time), at: now)
      #expect(isCurrent == (age <= 2), "\(age) s old")
    }
  }

  @Test
  func `when the host's clock is ahead at the start, then the receiver is trusted after three seconds at its pace`() {
    var stream = Stream()
    let verdicts = (0..<20).map { stream.isCurrent(Double($0), at: Double($0) + 0.3, wall: 40) }
    #expect(verdicts == Array(repeating: false, count: 3) + Array(repeating: true, count: 17))
  }

  @Test(
    "when the host's clock is behind, or wrong by hours, then the receiver is trusted at once",
    arguments: [-4_000_000, -3_600, -30, 4_000, 90_000, 600_000_000] as [Double])
  func wrongHostClock(ahead: Double) {
    var stream = Stream()
    let verdicts = (0..<5).map { stream.isCurrent(Double($0), at: Double($0) + 0.3, wall: ahead) }
    #expect(verdicts == [true, true, true, true, true])
  }

  @Test func `when one old position comes between present ones, then it alone is refused`() {
    var stream = Stream.running()
    let verdict1 = stream.isCurrent(21, at: 21.3)
    #expect(verdict1)
    let verdict2 = stream.isCurrent(18, at: 21.8)
    #expect(!verdict2)
    let verdict3 = stream.isCurrent(22, at: 22.3)
    #expect(verdict3)
    let verdict4 = stream.isCurrent(23, at: 24.9)
    #expect(verdict4, "1.6 s late")
    let verdict5 = stream.isCurrent(24, at: 26.4)
    #expect(!verdict5, "2.1 s late")
  }

  @Test(
    "when the host was suspended, then an old position is refused, and present ones count at once",
    arguments: [
      60, 3600, 46_800, 86_400, 604_800,
    ] as [Double])
  func suspend(_ seconds: Double) {
    var stream = Stream.running()
    let verdict6 = stream.isCurrent(21, at: 21 + seconds)
    #expect(!verdict6)
    let verdict7 = stream.isCurrent(22, at: 21 + seconds + 0.05)
    #expect(!verdict7)
    let verdict8 = stream.isCurrent(21 + seconds, at: 21.3 + seconds)
    #expect(verdict8)
  }

  @Test(
    "when dates step by weeks in mid-stream, or flap, then nothing is refused",
    arguments: [
      619_315_200, -619_315_200, 86_400, -86_400,
    ] as [Double])
  func dates(step: Double) {
    var stream = Stream.running()
    let verdicts = (21..<60).map { (second: Int) -> Bool in
      let time = Double(second) + (second % 5 == 0 || second > 40 ? step : 0)
      return stream.isCurrent(time, at: Double(second) + 0.3)
    }
    #expect(verdicts.allSatisfy { $0 })
  }

  @Test func `when the leap second becomes known, then the receiver is followed as soon as it agrees with the host`() {
    var stream = Stream()
    for second in 0...20 { _ = stream.isCurrent(Double(second) + 18, at: Double(second) + 0.3) }
    let verdicts = (21..<30).map { stream.isCurrent(Double($0), at: Double($0) + 0.3) }
    #expect(verdicts == [false] + Array(repeating: true, count: 8))
  }

  @Test func `when a clock is set back and no other clock agrees, then it blocks positions for ten seconds at most`() {
    var stream = Stream.running(wall: 4_000)
    let verdicts = (21..<60).map { stream.isCurrent(Double($0) - 13, at: Double($0) + 0.3, wall: 4_000) }
    #expect(verdicts.firstIndex(of: true) == 10)
    #expect(verdicts.dropFirst(10).allSatisfy { $0 })
  }

  @Test func `when a clock is set forward, then no position is refused, and the new time rules`() {
    var stream = Stream.running()
    let verdicts = (21..<60).map { stream.isCurrent(Double($0) + 13, at: Double($0) + 0.3) }
    #expect(verdicts.allSatisfy { $0 })
    let verdict9 = stream.isCurrent(60, at: 60.3)
    #expect(!verdict9, "the clock that was set rules")
  }

  @Test func `when three positions in two seconds are of a clock that was set forward, then its time rules`() {
    var stream = Stream.running()
    for second in 21...23 { _ = stream.isCurrent(Double(second) + 13, at: Double(second) + 0.3) }
    let isCurrent = stream.isCurrent(24, at: 24.3)
    #expect(!isCurrent)
  }

  @Test func `when only two positions are of a clock that was set forward, then its time does not rule yet`() {
    var stream = Stream.running()
    for second in [21.0, 24] { _ = stream.isCurrent(second + 13, at: second + 0.3) }
    let isCurrent = stream.isCurrent(25, at: 25.3)
    #expect(isCurrent)
  }

  @Test func `when a clock that was set forward rules, then its fastest position is the reference`() {
    var stream = Stream.running()
    for (time, now) in [(34.0, 21.7), (35, 22.3), (36, 23.7)] { _ = stream.isCurrent(time, at: now) }
    let late = stream.isCurrent(37, at: 26.5)
    #expect(!late, "2.2 s behind the second")
  }

  @Test func `when the delay shrinks by half a second, then the course goes on; by more, then it begins again`() {
    for (shorter, isCurrent) in [(0.5, false), (0.6, true)] {
      var stream = Stream()
      _ = stream.isCurrent(0, at: 0)
      _ = stream.isCurrent(1 + shorter, at: 1)
      let verdict = stream.isCurrent(0, at: 1.7)
      #expect(verdict == isCurrent, "an old position is refused only beside a course of a second")
    }
  }

  @Test func `when one position is from the future, then present positions still count`() {
    var stream = Stream.running()
    let verdict10 = stream.isCurrent(500, at: 21.3)
    #expect(verdict10)
    let verdicts = (22..<40).map { stream.isCurrent(Double($0), at: Double($0) + 0.3) }
    #expect(verdicts.allSatisfy { $0 })
  }

  @Test func `when a receiver's clock stands still, then only its first two seconds are current`() {
    var stream = Stream.running()
    let verdicts = (1...100).map { stream.isCurrent(20, at: 20.3 + Double($0)) }
    #expect(verdicts.count { $0 } == 2)
  }

  @Test func `when a recording is played fast or with breaks, then nothing is refused`() {
    var stream = Stream()
    var now = 0.0
    for second in 0..<500 {
      now += second % 100 == 99 ? 5 : 0.02
      let isCurrent = stream.isCurrent(Double(second), at: now)
      #expect(isCurrent)
    }
  }

  @Test func `when the delay grows slowly, then every position is current`() {
    var stream = Stream()
    let verdicts = (0..<3600).map { stream.isCurrent(Double($0), at: Double($0) * 1.002) }
    #expect(verdicts.allSatisfy { $0 })
  }

  @Test func `when times are at the ends of their range, then nothing traps`() {
    var stream = Stream()
    for (index, time) in [Int64.min, .max, 0, .min, .max].enumerated() {
      _ = stream.pace.check(WallTime(microseconds: time), at: TestTime.at(Double(index) * 20))
    }
  }

  @Test(
    "when a stream begins behind the host's clock, then two seconds are no backlog, and more than an hour is another date",
    arguments: [(2, true), (2.000_001, false), (3600, false), (3600.000_001, true)])
  func beginning(behind: Double, isCurrent: Bool) {
    var stream = Stream()
    #expect(stream.isCurrent(0, at: behind) == isCurrent)
  }

  @Test(
    "when a position is behind by a pause and a minute, then it is old; more is another date",
    arguments: [(60, false), (60.000_001, true)])
  func dayBehind(beyondThePause: Double, isCurrent: Bool) {
    var stream = Stream.running()
    #expect(stream.isCurrent(20 - beyondThePause, at: 20.3 + 86_340) == isCurrent)
  }

  @Test func `when all positions come later from now on, then the shorter delay fades by 10 ms a second`() {
    var stream = Stream.running()
    for second in 21...120 { _ = stream.isCurrent(Double(second), at: Double(second) + 0.3 + 1.8) }
    var other = stream
    let isCurrent = (stream.isCurrent(121, at: 121.3 + 2.95), other.isCurrent(121, at: 121.3 + 3.05))
    #expect(isCurrent == (true, false), "the delay has faded by a second")
  }

  @Test func `when a stream is trusted, then it stays trusted, even if its time steps within the first second`() {
    var stream = Stream()
    let first = stream.isCurrent(0, at: 0.3)
    let second = stream.isCurrent(-40, at: 0.8)
    #expect((first, second) == (true, true))
  }

  @Test(
    "when a clock is set back to within a second of the host's, then it is followed from the second position",
    arguments: [(1, 1), (1.000_001, 9), (-1, 1), (-1.000_001, 9)])
  func setBack(difference: Double, refused: Int) {
    var stream = Stream()
    for second in 0...20 { _ = stream.isCurrent(Double(second) + 18, at: Double(second) + 0.5) }
    let verdicts = (21..<30).map { stream.isCurrent(Double($0) + 0.5 - difference, at: Double($0) + 0.5) }
    #expect(verdicts.count { !$0 } == refused)
  }

  @Test(
    "when a position is half a day behind, then it is old; a moment more is another date",
    arguments: [(43_200, false), (43_200.000_001, true)])
  func halfADay(behind: Double, isCurrent: Bool) {
    var stream = Stream.running()
    #expect(stream.isCurrent(21 - behind, at: 21.3) == isCurrent)
  }
}

import Coverage
import Testing

@testable import Driving
@testable import Networking

/// The lines that an operator reads while a drive runs.
struct StatusLineTests {
  private func status(_ change: (inout DriveStatus) -> Void = { _ in }) -> DriveStatus {
    var status = DriveStatus()
    status.elapsed = .seconds(751)
    status.fix = Fix(coordinate: Coordinate(latitude: 48.2082, longitude: 16.3738), accuracy: 4.04)
    status.isAccurate = true
    status.fences = 17
    status.technology = Technology("4G/LTE")
    for rtt in [30, 33] as [Int64] { status.lastSecond.count(.answered(rttNanoseconds: rtt * 1_000_000)) }
    change(&status)
    return status
  }

  @Test("when there is no trouble, then the line has time, place, fences, pings and technology")
  func whole() {
    #expect(status().line == "00:12:31  48.20820 16.37380 ±4.0 m  17 fences  31.5 ms 0 % lost  4G/LTE")
  }

  @Test(
    "when the accuracy is below 10 m, then it has a decimal; an accuracy too bad for fences is marked",
    arguments: [
      (0, true, "±0.0 m"), (9.94, true, "±9.9 m"), (10, true, "±10 m"), (12.4, false, "±12 m (too inaccurate)"),
      (1234.5, false, "±1234 m (too inaccurate)"), (nil, false, "accuracy unknown (too inaccurate)"),
    ] as [(Double?, Bool, String)])
  func accuracy(accuracy: Double?, isAccurate: Bool, expected: String) {
    let line = status {
      $0.fix = Fix(coordinate: Coordinate(latitude: -0.000004, longitude: -179.999996), accuracy: accuracy)
      $0.isAccurate = isAccurate
    }.line
    #expect(line.hasPrefix("00:12:31  -0.00000 -180.00000 \(expected)  17 fences"), "\(line)")
  }

  @Test("when there is no fix, or it has no place, then the line says so", arguments: [nil, .lost] as [Fix?])
  func noFix(fix: Fix?) {
    #expect(status { $0.fix = fix }.line.hasPrefix("00:12:31  no fix  17 fences"))
  }

  @Test("when there is one fence, no ping or no technology, then the line has the words for it")
  func nothing() {
    #expect(DriveStatus().line == "00:00:00  no fix  0 fences  no pings  no technology")
    #expect(status { $0.fences = 1 }.line.contains("  1 fence  "))
  }

  @Test("when there are warnings, then they end the line, in their order")
  func warnings() {
    let line = status { $0.warnings = ["waiting for GPS (no gpsd)", "waiting for a test"] }.line
    #expect(line.hasSuffix("4G/LTE  ! waiting for GPS (no gpsd), waiting for a test"))
  }

  @Test("when there are several links, then time and place are shown once, and each link has its name and its own part")
  func links() {
    let first = status { $0.link = "A" }
    let second = status {
      ($0.link, $0.fences, $0.technology, $0.warnings) = ("B", 3, nil, ["the clock is not set"])
      $0.lastSecond = PingTally()
    }
    #expect(
      DriveStatus.line([first, second]) == "00:12:31  48.20820 16.37380 ±4.0 m  A: 17 fences  31.5 ms 0 % lost  4G/LTE"
        + " | B: 3 fences  no pings  no technology  ! the clock is not set")
    #expect(DriveStatus.line([first]) == first.line)
    #expect(DriveStatus.line([]) == "")
    #expect(DriveStatus.line([status(), status()]).contains("  -: 17 fences"))
  }

  @Test(
    "when time passes, then it is shown in hours, minutes and seconds, for any length",
    arguments: [
      (0, "00:00:00"), (59.999, "00:00:59"), (60, "00:01:00"), (3599, "00:59:59"), (3600, "01:00:00"),
      (359_999, "99:59:59"), (360_000, "100:00:00"),
    ])
  func clock(seconds: Double, expected: String) {
    #expect(DriveStatus.clock(.milliseconds(Int64(seconds * 1000))) == expected)
  }

  @Test(
    "when pings are lost, then the share has a decimal only below 10 %, and the mean is that of the answered ones",
    arguments: [
      (0, 0, "no pings"), (0, 3, "- ms 100 % lost"), (1, 0, "31.7 ms 0 % lost"), (999, 1, "31.7 ms 0.1 % lost"),
      (9, 1, "31.7 ms 10 % lost"), (10, 1, "31.7 ms 9.1 % lost"), (1, 2, "31.7 ms 67 % lost"),
      (99_999, 1, "31.7 ms 0.0 % lost"),
    ])
  func tally(answered: Int, lost: Int, expected: String) {
    var tally = PingTally()
    for _ in 0..<answered { tally.count(.answered(rttNanoseconds: 31_670_000)) }
    for number in 0..<lost { tally.count(.failed(number.isMultiple(of: 2) ? .timeout : .network)) }
    #expect(tally.line == expected)
    #expect((tally.pings, tally.answered) == (answered + lost, answered))
  }

  @Test("when a number is shown, then it has a point and no groups, and is rounded to even at a tie")
  func decimals() {
    #expect(DecimalText.of(1_234_567.891, places: 2) == "1234567.89")
    #expect([0.5, 1.5, 2.5, -0.5].map { DecimalText.of($0, places: 0) } == ["0", "2", "2", "-0"])
  }
}

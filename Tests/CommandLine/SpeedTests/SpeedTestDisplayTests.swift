import Testing

@testable import Service
@testable import SpeedTest
@testable import coverage_probe

@Suite struct SpeedTestDisplayTests {
  private func progress(
    _ phase: SpeedTestProgress.Phase, thread: Int = 0, seconds: Double? = nil, megabytes: Int64 = 0
  ) -> SpeedTestProgress {
    SpeedTestProgress(
      phase: phase, thread: thread,
      sample: seconds.map { Sample(nanoseconds: Int64($0 * 1e9), bytes: megabytes * 1_000_000) })
  }

  @Test("When several threads report a phase, then it counts as new once")
  func phases() {
    var display = SpeedTestDisplay()
    #expect(display.line == "")
    let first = display.apply(progress(.connecting))
    let second = display.apply(progress(.connecting, thread: 1))
    let third = display.apply(progress(.ping))
    #expect([first, second, third] == [true, false, true])
    #expect(display.line == "ping")
  }

  @Test("When a slow thread reports an earlier phase, then the later one stays")
  func lateThread() {
    var display = SpeedTestDisplay()
    _ = display.apply(progress(.upload))
    let isNew = display.apply(progress(.download, seconds: 1, megabytes: 5))
    #expect(!isNew)
    #expect(display.line == "upload")
  }

  @Test("When threads report points, then the line has the sum of their present rates, and a curve")
  func rates() {
    var display = SpeedTestDisplay()
    _ = display.apply(progress(.download))
    _ = display.apply(progress(.download, thread: 0, seconds: 1, megabytes: 1))
    _ = display.apply(progress(.download, thread: 1, seconds: 1, megabytes: 1))
    _ = display.apply(progress(.download, thread: 0, seconds: 2, megabytes: 3))
    #expect(display.line == "download  24.00 Mbit/s  ▃█")
  }

  @Test("When times are equal or go back, then the rate stays")
  func equalTimes() {
    var display = SpeedTestDisplay()
    _ = display.apply(progress(.download, seconds: 1, megabytes: 1))
    let line = display.line
    _ = display.apply(progress(.download, seconds: 1, megabytes: 9))
    #expect(display.line == line)
  }

  @Test("When a test is long, then the curve keeps its width")
  func width() {
    var display = SpeedTestDisplay()
    for second in 1...500 { _ = display.apply(progress(.upload, seconds: Double(second), megabytes: Int64(second))) }
    #expect(display.line.count < 60)
  }
}

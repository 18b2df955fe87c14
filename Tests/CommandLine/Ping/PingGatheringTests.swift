import Coverage
import Testing

@testable import Service
@testable import coverage_probe

/// How often `ping` reads the events of pings.
struct PingGatheringTests {
  @Test(
    "when there are 5 to 100 pings a second, then events are read a few at a time, and otherwise at once",
    arguments: [
      (100, 1, 400), (10, 1, 40), (200, 1, 400), (20, 2, 80), (9, 1, nil), (201, 1, nil), (1000, 1, nil),
      (100, 11, nil),
    ] as [(Int, Int, Int?)])
  func periods(interval: Int, targets: Int, expected: Int?) {
    var options = PingOptions()
    options.target.interval = .milliseconds(interval)
    #expect(options.gathering(targets: targets) == expected.map { .milliseconds($0) })
  }

  @Test("when pings flood, then events are read at once")
  func flood() {
    var options = PingOptions()
    options.target.interval = .milliseconds(100)
    options.target.floodWindow = 8
    #expect(options.gathering(targets: 1) == nil)
  }
}

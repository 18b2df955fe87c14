import TestSupport
import Testing

@testable import Coverage

/// The samples of one fence: removed, and dropped when they are old.
@Suite struct PingSamplesTests {
  private var samples = PingSamples(interval: .milliseconds(100))

  private var figures: PingFigures {
    var figures = PingFigures()
    samples.complete(&figures)
    return figures
  }

  private mutating func add(_ milliseconds: Int64, sent: Double) {
    samples.add(.answered(rttNanoseconds: milliseconds * 1_000_000), sent: DriveTime(seconds: sent))
  }

  private mutating func remove(_ milliseconds: Int64, sent: Double) {
    samples.remove(.answered(rttNanoseconds: milliseconds * 1_000_000), sent: DriveTime(seconds: sent))
  }

  @Test mutating func `when the ping between two close pings is removed, then the two are neighbours`() {
    add(10, sent: 1)
    add(70, sent: 1.05)
    add(30, sent: 1.1)
    #expect(figures.meanVariation == 50_000_000, "60 and 40 ms")
    remove(70, sent: 1.05)
    #expect(figures.meanVariation == 20_000_000)
    #expect(figures.roundTrip?.maximum == 30_000_000)
  }

  @Test mutating func `when pings have the same round trip, then the ping with the given send time is removed`() {
    for (number, delay) in ([10, 30, 35, 10] as [Int64]).enumerated() { add(delay, sent: 1 + Double(number) / 10) }
    remove(10, sent: 1)
    #expect(figures.meanVariation == 15_000_000, "5 and 25 ms")
  }

  @Test func `when many pings are stored, then a half is dropped only if all of it is old`() {
    var recent = CountedPings(keepsPlaced: false)
    // A third was sent long ago, and all others can still be removed.
    for number in 0..<64 {
      recent.append(Event(at: DriveTime(seconds: number < 25 ? 1 : 10), .ping(.failed(.timeout))), in: .fence(number))
    }
    #expect(recent.removeAll(since: DriveTime(seconds: 10)).map(\.place) == (25..<64).map { .fence($0) })
  }

  @Test(
    arguments: [(1, 3, 3), (2, 3, 2), (4, 5, 1), (4, 6, 2), (4, 7, 2), (3, 4, 1), (3, 5, 2)] as [(Int, Int64, Int64)])
  func `when a mean is not whole nanoseconds, then it is rounded half up`(answered: Int, sum: Int64, mean: Int64) {
    #expect(Fence.sample(answered: answered, rttSumNanoseconds: sum).meanRTTNanoseconds == mean)
  }

  @Test mutating func `when the last ping is removed, then no figure is left`() {
    add(10, sent: 1)
    remove(10, sent: 1)
    #expect(figures == PingFigures())
  }

  @Test mutating func `when a ping is older than any that can still wait for its answer, then it cannot be removed`() {
    for second in 1...300 { add(Int64(second), sent: Double(second)) }
    let before = figures
    remove(5, sent: 5)
    #expect(figures == before)
    remove(300, sent: 300)
    #expect(figures.roundTrip?.maximum == 299_000_000)
  }

  @Test func `when a delay changes by more than an hour, then a clock was wrong and there is no variation`() {
    let hour: Int64 = 3_600_000_000_000
    #expect(DelayVariation.between(5, 5 + hour) == hour)
    #expect(DelayVariation.between(5 + hour, 5) == hour)
    #expect(DelayVariation.between(5, 6 + hour) == nil)
  }

  @Test func `when pings are removed, then they cannot be removed again`() {
    var recent = CountedPings(keepsPlaced: false)
    for second in 1...3 {
      recent.append(Event(at: DriveTime(seconds: Double(second)), .ping(.failed(.timeout))), in: .fence(second))
    }
    #expect(recent.removeAll(since: DriveTime(seconds: 2)).map(\.place) == [.fence(2), .fence(3)])
    #expect(recent.removeAll(since: DriveTime(seconds: 2)).isEmpty)
    #expect(recent.removeAll(since: DriveTime(seconds: 1)).map(\.place) == [.fence(1)])
  }
}

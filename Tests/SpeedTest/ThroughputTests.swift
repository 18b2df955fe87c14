import Testing

@testable import SpeedTest

/// Edges are those of docs/protocol.md, 9.
@Suite struct ThroughputTests {
  private func series(_ points: [(Double, Int64)]) -> [Sample] {
    points.map { Sample(nanoseconds: Int64($0.0 * 1e9), bytes: $0.1) }
  }

  @Test(
    "When two threads end at different times, then the rate at the common end is 136.0 Mbit/s, as in docs/protocol.md, 7.6"
  )
  func workedExample() throws {
    let figure = try #require(
      Throughput(threads: [
        series([(2, 10_000_000), (7, 70_000_000)]), series([(3, 9_000_000), (8, 59_000_000)]),
      ]))
    #expect(figure.nanoseconds == 7_000_000_000)
    #expect(figure.bytes == 119_000_000)
    #expect(figure.kilobitsPerSecond == 136_000)
  }

  @Test("Edge 28: when a thread's first point is after the end, then it is interpolated from (0, 0)")
  func firstPointAfterTheEnd() throws {
    let figure = try #require(Throughput(threads: [series([(5, 500)]), series([(10, 2000)])]))
    #expect(figure.nanoseconds == 5_000_000_000)
    #expect(figure.bytes == 1500)
  }

  @Test("Edge 28: when a thread has no point, then it adds nothing and does not set the end")
  func threadWithoutPoints() throws {
    let figure = try #require(Throughput(threads: [[], series([(4, 4000)])]))
    #expect(figure.nanoseconds == 4_000_000_000)
    #expect(figure.bytes == 4000)
  }

  @Test("Edge 28: when points have the same time, then nothing is divided by zero, and the first of the points counts")
  func equalTimes() throws {
    let figure = try #require(Throughput(threads: [series([(3, 100), (3, 300)]), series([(3, 50)])]))
    #expect(figure.bytes == 150)
    let zero = Throughput(threads: [series([(0, 100)])])
    #expect(zero == nil)
  }

  @Test("Edge 28: when products exceed 64 bits, then the rate is still right")
  func largeProducts() throws {
    let figure = try #require(
      Throughput(threads: [series([(7, 9_000_000_000_000)]), series([(8, 9_000_000_000_000)])]))
    #expect(figure.bytes == 16_875_000_000_000)
    #expect(figure.kilobitsPerSecond == 19_285_714_286)
  }

  @Test("Edge 29: when no thread took part, then there is no result")
  func noThread() {
    #expect(Throughput(threads: []) == nil)
    #expect(Throughput(threads: [[], []]) == nil)
  }

  @Test("Edge 20: when draining takes longer than the phase, then all bytes count over all of the time")
  func drainedTime() throws {
    let figure = try #require(Throughput(threads: [series([(7, 70_000_000), (8, 80_000_000)])]))
    #expect(figure.nanoseconds == 8_000_000_000)
    #expect(figure.kilobitsPerSecond == 80_000)
  }

  @Test("When a rate is not whole kbit/s, then it is rounded, with 1000 bit in a kbit")
  func rounding() throws {
    #expect(Throughput(threads: [series([(1, 187)])])?.kilobitsPerSecond == 1)
    #expect(Throughput(threads: [series([(1, 188)])])?.kilobitsPerSecond == 2)
  }

  @Test("When a server sends impossible points, then the rate is the greatest number, and nothing traps")
  func impossibleRate() {
    let most = Throughput(threads: [[Sample(nanoseconds: 1, bytes: 1 << 53)]])
    #expect(most?.kilobitsPerSecond == .max)
    #expect(Throughput(threads: [[Sample(nanoseconds: .max, bytes: 1)]])?.kilobitsPerSecond == 0)
  }
}

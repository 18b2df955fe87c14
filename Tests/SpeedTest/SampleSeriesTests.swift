import Testing

@testable import SpeedTest

@Suite struct SampleSeriesTests {
  @Test("When points come faster than one a millisecond, then memory stays bounded and the newest point stays")
  func thinning() {
    var series = SampleSeries()
    for time in 1...100_000 { series.append(Sample(nanoseconds: Int64(time) * 1000, bytes: Int64(time))) }
    #expect(series.samples.count <= 102)
    #expect(series.samples.last == Sample(nanoseconds: 100_000_000, bytes: 100_000))
  }

  @Test("When points are thinned, then the result differs by no more than the curve does within a millisecond")
  func thinnedResult() throws {
    let all = (1...50_000).map { Sample(nanoseconds: Int64($0) * 10_000, bytes: Int64($0) * Int64($0)) }
    var series = SampleSeries()
    all.forEach { series.append($0) }
    let other = [Sample(nanoseconds: 333_333_333, bytes: 1)]
    let exact = try #require(Throughput(threads: [all, other]))
    let thinned = try #require(Throughput(threads: [series.samples, other]))
    #expect(abs(exact.bytes - thinned.bytes) < exact.bytes / 1000)
  }

  @Test("Edge 27: when a time or the bytes go back, then the point is left out")
  func backwards() {
    var series = SampleSeries()
    series.append(Sample(nanoseconds: 5_000_000, bytes: 10))
    series.append(Sample(nanoseconds: 4_000_000, bytes: 20))
    series.append(Sample(nanoseconds: 9_000_000, bytes: 5))
    #expect(series.samples == [Sample(nanoseconds: 5_000_000, bytes: 10)])
  }

  @Test("When two points have the same time, then the later one counts")
  func sameTime() {
    var series = SampleSeries()
    series.append(Sample(nanoseconds: 5_000_000, bytes: 10))
    series.append(Sample(nanoseconds: 5_000_000, bytes: 30))
    #expect(series.samples == [Sample(nanoseconds: 5_000_000, bytes: 30)])
  }
}

import Coverage
import TestSupport
import Testing

@testable import Driving

@Suite struct LoadedPingsTests {
  private func answered(_ milliseconds: Int64) -> PingOutcome { .answered(rttNanoseconds: milliseconds * 1_000_000) }

  @Test("when no test runs, then pings have no load, and there are no delays")
  func none() {
    var load = LoadedPings()
    #expect(load.count(answered(10), at: .seconds(1)) == nil)
    #expect(!load.isTesting && load.drain().isEmpty)
  }

  @Test(
    "when a test runs, then its pings have the load at their time of sending, and the 10 s before count as idle")
  func parts() throws {
    var load = LoadedPings()
    for second in 0..<30 { _ = load.count(answered(20), at: .seconds(Double(second))) }
    _ = load.begin(at: .seconds(30))
    #expect(load.isTesting)
    #expect(load.count(answered(30), at: .seconds(30.5)) == nil, "before the first load")
    load.enter(.download, at: .seconds(33))
    load.enter(.upload, at: .seconds(40))
    // Its answer came during the upload.
    #expect(load.count(answered(300), at: .seconds(39.9)) == .download)
    #expect(load.count(.failed(.timeout), at: .seconds(35)) == .download)
    #expect(load.count(answered(80), at: .seconds(41)) == .upload)
    _ = load.finish(at: .seconds(47))
    #expect(load.count(answered(20), at: .seconds(48)) == nil)
    #expect(load.count(answered(90), at: .seconds(46)) == .upload)
    let delays = load.drain()
    #expect(delays.map(\.part) == [.idle, .download, .upload])
    #expect(delays[0].pings == 10 && delays[0].median == 20_000_000 && delays[0].lost == 0)
    #expect(delays[1].pings == 2 && delays[1].lost == 1 && delays[1].median == 300_000_000)
    #expect(delays[2].pings == 2 && delays[2].median == 80_000_000 && delays[2].percentile95 == nil)
    #expect(load.drain().isEmpty, "the next test has its own")
  }

  @Test(
    "when a part begins again after its pre-test, then all its pings have the mark, and the delays are those since then"
  )
  func preTest() {
    var load = LoadedPings()
    _ = load.begin(at: .seconds(30))
    load.enter(.upload, at: .seconds(31))
    #expect(load.count(answered(900), at: .seconds(32)) == .upload)
    load.enter(nil, at: .seconds(33))
    load.enter(.upload, at: .seconds(33))
    #expect(load.count(answered(80), at: .seconds(34)) == .upload)
    #expect(load.count(answered(900), at: .seconds(32.5)) == .upload, "answered late")
    _ = load.finish(at: .seconds(40))
    #expect(load.drain().map(\.median) == [80_000_000])
  }

  @Test("when a ping from just before the test is answered during it, then it counts as idle")
  func straggler() {
    var load = LoadedPings()
    _ = load.begin(at: .seconds(30))
    #expect(load.count(answered(25), at: .seconds(29.95)) == nil)
    _ = load.finish(at: .seconds(31))
    #expect(load.drain().map(\.pings) == [1])
  }

  @Test("when a long drive has no test, then the pings of the last 10 s stay, and no more than some hundreds")
  func memory() {
    var load = LoadedPings()
    for tenth in 0..<36_000 { _ = load.count(answered(20), at: .seconds(Double(tenth) / 10)) }
    _ = load.begin(at: .seconds(3600))
    _ = load.finish(at: .seconds(3601))
    #expect(load.drain().first?.pings == 100)
  }
}

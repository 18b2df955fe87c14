import Testing

@testable import Coverage

/// A fence's ping figures beyond count and mean.
@Suite struct FigureTests {
  var drive = DriveScript()

  private var figures: PingFigures? { drive.fences.last?.figures }

  @Test mutating func `when a fence has closed, then the spread of its round trips is known, by nearest rank`() {
    drive.fix(at: 1)
    for step in 1...20 { drive.ping(at: 1 + Double(step) / 100, milliseconds: Int64(step)) }
    drive.stop(at: 5)
    #expect(
      figures?.roundTrip
        == .init(minimum: 1_000_000, median: 10_000_000, percentile95: 19_000_000, maximum: 20_000_000))
  }

  @Test mutating func `when no ping was answered, then there is no spread and no variation`() {
    drive.fix(at: 1)
    drive.failedPing(at: 1.1)
    drive.stop(at: 5)
    #expect(figures == PingFigures())
  }

  @Test mutating func `when pings come out of order, then variation is between neighbours in sending order`() {
    drive.fix(at: 1)
    drive.ping(at: 1.1, milliseconds: 10)
    drive.ping(at: 1.3, milliseconds: 50)
    drive.ping(at: 1.2, milliseconds: 20)
    drive.stop(at: 5)
    #expect(figures?.meanVariation == 20_000_000, "10 and 30 ms")
  }

  @Test mutating func `when a ping between two answered pings was lost, then the two are not neighbours`() {
    drive.fix(at: 1)
    drive.ping(at: 1.1, milliseconds: 10)
    drive.failedPing(at: 1.2)
    drive.ping(at: 1.3, milliseconds: 50)
    drive.stop(at: 5)
    #expect(figures?.meanVariation == nil)
  }

  @Test mutating func `when pings between two answered pings are in no fence, then the two are not neighbours`() {
    drive.fix(at: 1)
    drive.ping(at: 1.1, milliseconds: 10)
    drive.ping(at: 1.2, milliseconds: 12)
    drive.fixLost(at: 1.25)
    for step in 0..<280 { drive.ping(at: 1.3 + Double(step) / 10, milliseconds: 90) }
    drive.fix(at: 29.25)
    drive.ping(at: 29.3, milliseconds: 50)
    drive.ping(at: 29.4, milliseconds: 56)
    drive.stop(at: 30)
    #expect(drive.fences.map(\.pings) == [4])
    #expect(figures?.meanVariation == 4_000_000, "2 and 6 ms")
  }

  @Test mutating func `when a ping was not sent, then the pings before and after it are not neighbours`() {
    drive.fix(at: 1)
    drive.ping(at: 1.1, milliseconds: 10)
    drive.ping(at: 1.3, milliseconds: 50)
    #expect(drive.engine.openFence?.figures.meanVariation == nil)
    drive.ping(at: 1.2, milliseconds: 20)
    #expect(drive.engine.openFence?.figures.meanVariation == 20_000_000, "it was sent: 10 and 30 ms")
  }

  @Test mutating func `when only some pings are stamped by the kernel, then they have a mean of their own`() {
    drive.fix(at: 1)
    drive.ping(at: 1.1, milliseconds: 10, byKernel: true)
    drive.ping(at: 1.2, milliseconds: 90)
    drive.ping(at: 1.3, milliseconds: 20, byKernel: true)
    drive.stop(at: 5)
    #expect(figures?.kernelMean == 15_000_000)
  }

  @Test mutating func `when answers are late or duplicate, then they are counted and change neither mean nor loss`() {
    drive.fix(at: 1)
    drive.failedPing(at: 1.1)
    drive.ping(at: 1.2)
    drive.latePing(at: 1.1, milliseconds: 1500)
    drive.duplicate(at: 1.2)
    drive.duplicate(at: 1.2)
    drive.latePing(at: 0.5, milliseconds: 1500)
    #expect(figures?.late == 1)
    #expect(figures?.duplicates == 2)
    #expect(drive.fences[0].pings == 2)
    #expect(drive.fences[0].pingsAnswered == 1)
    #expect(drive.engine.pings.all == 2)
  }

  @Test mutating func `when a ping is answered after its fence closed, then the fence is revised with all figures`() {
    drive.fix(at: 1)
    drive.ping(at: 1.8, milliseconds: 10)
    drive.fix(at: 2, north: 100)
    let effects = drive.ping(at: 1.9, milliseconds: 30)
    guard case .fenceRevised(let fence) = effects.first else {
      Issue.record("\(effects)")
      return
    }
    #expect(fence.figures.roundTrip?.maximum == 30_000_000)
    #expect(fence.figures.meanVariation == 20_000_000)
    drive.latePing(at: 1.8, milliseconds: 2000)
    #expect(drive.fences[0].figures.late == 1)
  }

  @Test mutating func `when a fence is open, then its figures are up to date`() {
    drive.fix(at: 1)
    drive.ping(at: 1.1, milliseconds: 10)
    #expect(drive.engine.openFence?.figures.roundTrip?.maximum == 10_000_000)
  }

  @Test mutating func `when a fence lasts for long, then all of its pings count, in any order of arrival`() {
    drive.fix(at: 0)
    // Ten pings a second; of every three, the last two arrive in reverse order.
    let times = (0..<5_001).map { Int64(1 + $0 * 7_919 % 501) }
    for ping in times.indices.map({ $0 % 3 == 1 ? $0 + 1 : $0 % 3 == 2 ? $0 - 1 : $0 }) {
      drive.ping(at: 0.05 + Double(ping) / 10, milliseconds: times[ping])
    }
    drive.stop(at: 600)
    let sorted = times.sorted().map { $0 * 1_000_000 }
    let variations = zip(times, times.dropFirst()).map { abs($0 - $1) }
    let mean = Double(variations.reduce(0, +)) * 1e6 / 5_000
    #expect(drive.fences.last?.pings == 5_001)
    #expect(
      figures?.roundTrip
        == .init(minimum: sorted[0], median: sorted[2_500], percentile95: sorted[4_750], maximum: sorted[5_000]))
    #expect(figures?.meanVariation == Int64(mean.rounded()))
  }

  @Test mutating func `when an outcome comes minutes after its fence, then it counts without changing the figures`() {
    drive.fix(at: 1)
    drive.ping(at: 1.1, milliseconds: 10)
    drive.fix(at: 2, north: 100)
    drive.fix(at: 200, north: 200)
    drive.ping(at: 1.2, milliseconds: 90)
    guard case .fenceRevised(let fence) = drive.effects.last else {
      Issue.record("the first fence was not revised")
      return
    }
    #expect((fence.number, fence.pings) == (0, 2))
    #expect(fence.figures.roundTrip?.maximum == 10_000_000)
  }
}

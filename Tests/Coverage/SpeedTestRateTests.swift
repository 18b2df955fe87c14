import Foundation
import Testing

@testable import Coverage

/// What a rate does not say: which part of its phase was measured.
struct SpeedTestRateTests {
  private func rate(
    _ kilobits: Int64 = 8_000_000, until end: Double, planned: Double? = 7, silence: Double? = 0,
    curves: [[[Int64]]] = []
  ) -> SpeedTestRate {
    func nanoseconds(_ seconds: Double) -> Int64 { Int64(seconds * 1e9) }
    return SpeedTestRate(
      kilobitsPerSecond: kilobits, bytes: 0, nanoseconds: nanoseconds(end), began: 0, connections: curves.count,
      curves: curves, planned: planned.map(nanoseconds), silence: silence.map(nanoseconds))
  }

  @Test(
    "when less than 85 % of a phase was measured, or no byte came for 2 s, then it counts as interrupted",
    arguments: [
      (2.18, 4.82, true, true), (5.94, 0, true, true), (5.95, 0, false, false), (6, 1, false, false),
      (7.4, 1.999, false, false),
      (7, 2, false, true),
    ] as [(Double, Double, Bool, Bool)])
  func interrupted(end: Double, silence: Double, isPartial: Bool, isInterrupted: Bool) {
    let rate = rate(until: end, silence: silence)
    #expect(rate.isPartial == isPartial && rate.isInterrupted == isInterrupted)
  }

  @Test("when a test is of a build that stored no plan, then nothing is known of an interruption")
  func earlier() throws {
    let stored = #"{"kilobitsPerSecond":8,"bytes":1,"nanoseconds":2,"began":3,"connections":1,"curves":[[[2,1]]]}"#
    let rate = try JSONDecoder().decode(SpeedTestRate.self, from: Data(stored.utf8))
    #expect(rate.measuredShare == nil && rate.broken == nil && !rate.isPartial && !rate.isInterrupted)
    var figures = SpeedTestFigures(server: "s", port: 1, kind: "RMBT")
    figures.links = nil
    let coded = String(decoding: try JSONEncoder().encode(figures), as: UTF8.self)
    #expect(!coded.contains("links"), "figures without links decode as those of an earlier build")
  }

  /// 2.18 GB in 2.18 s are 8 Gbit/s; over 7 s they are 2.491 Gbit/s.
  @Test(
    "when the path dies in a phase, then the rate over the whole phase has the bytes of all connections until its end")
  func ofPhase() {
    let curves: [[[Int64]]] = [
      [[1_000_000_000, 500_000_000], [2_180_000_000, 1_090_000_000]], [[2_180_000_000, 1_090_000_000]],
    ]
    #expect(rate(until: 2.18, curves: curves).kilobitsOfPhase == 2_491_429)
    // The cut-off comes 3 s late, and bytes came until then.
    #expect(rate(until: 2, curves: [[[10_000_000_000, 1_250_000_000]]]).kilobitsOfPhase == 1_000_000)
  }

  @Test("when stored points are damaged, then no figure traps")
  func damaged() {
    let curves: [[[Int64]]] = [[], [[]], [[1]], [[-5, 5]], [[.max, .max]], [[.min, .min]], [[5, -5]]]
    for end: Int64 in [.min, -1, 0, .max] {
      for planned: Int64? in [nil, .min, 0, .max] {
        let rate = SpeedTestRate(
          kilobitsPerSecond: .max, bytes: .min, nanoseconds: end, began: .min, connections: 0, curves: curves,
          planned: planned, silence: .max)
        #expect(rate.kilobitsOfPhase >= 0 && (0...1).contains(rate.measuredShare ?? 0))
      }
    }
  }

  @Test("when pings are read, then median and shortest are of one series, and the wire's shortest is the client's")
  func pings() {
    var figures = SpeedTestFigures(server: "s", port: 1, kind: "RMBT")
    figures.pings = [(9, 5), (8, 6), (20, 7)].map { SpeedTestPing(client: $0.0, server: $0.1, offset: 0) }
    #expect(figures.medianPing == 6 && figures.shortestPing == 5 && figures.shortestClientPing == 8)
  }
}

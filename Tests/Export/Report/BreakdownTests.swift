import Coverage
import Foundation
import Store
import TestSupport
import Testing

@testable import Export

/// The figures of a report by technology, link, area and distance.
@Suite struct BreakdownTests {
  private func breakdown(_ fences: [StoredFence], areas: AreaList? = nil) -> Breakdown {
    var (breakdown, shares) = (Breakdown(areas: areas), CoverageShares())
    for fence in fences { breakdown.add(fence, metres: shares.add(fence)) }
    return breakdown
  }

  /// A random road, and the sums of all its pings.
  private func road(seed: UInt64) -> (fences: [StoredFence], sums: PingSums) {
    var road = RandomRoad(random: SeededGenerator(seed: seed))
    let fences = road.fences(200)
    return (fences, fences.reduce(into: PingSums()) { $0.add($1.fence) })
  }

  @Test(
    "when fences are of any kind, then the groups of each table have all pings, and their distance is what was measured",
    arguments: 1...5)
  func sums(seed: UInt64) throws {
    let (fences, sums) = road(seed: seed)
    let areas = try AreaList(
      Data(
        #"{"type":"Feature","properties":{"name":"south"},"geometry":{"type":"Polygon","coordinates":[[[16,48],[17,48],[17,48.05],[16,48.05],[16,48]]]}}"#
          .utf8))
    let found = breakdown(fences, areas: areas)
    var shares = CoverageShares()
    for fence in fences { shares.add(fence) }
    for groups in [found.technologies, found.links, found.areas] {
      #expect(groups.rows.reduce(0) { $0 + $1.group.sums.pings } == sums.pings)
      #expect(groups.rows.reduce(0) { $0 + $1.group.sums.lost } == sums.lost)
      #expect(groups.rows.reduce(0) { $0 + $1.group.fences } == fences.count)
      #expect(abs(groups.rows.reduce(0) { $0 + $1.group.metres.measured } - shares.measured.metres) < 0.1)
      let silent = groups.rows.reduce(0) { $0 + $1.group.metres.silent }
      #expect(abs(silent - (shares.parts[.noAnswer]?.metres ?? 0)) < 0.1)
    }
    #expect(found.areas.rows.map(\.name) == ["south", "elsewhere"] && found.links.rows.map(\.name) == ["one link"])
    #expect(found.ways.map(\.link) == ["one link"])
    #expect(found.ways.flatMap(\.profile.pieces).reduce(0) { $0 + $1.pings } == sums.pings)
  }

  @Test("when no ping of a fence was answered, then its pings failed on the technology that it was on")
  func failed() throws {
    let rows = breakdown([
      .of(.sample(number: 0, technology: "5G/NR", pings: 10, answered: 10, rttSumNanoseconds: 200_000_000)),
      .of(.sample(number: 1, technology: "5G/NR", pings: 30, answered: 0, rttSumNanoseconds: 0)),
      .of(.sample(number: 2, technology: nil, pings: 5, answered: 0, rttSumNanoseconds: 0)),
    ]).technologies.rows
    #expect(rows.map(\.name) == ["5G SA", "unknown technology"])
    #expect(rows[0].group.sums.loss == 0.75 && rows[0].group.sums.meanMicroseconds == 20_000)
    #expect(rows[1].group.sums.loss == 1 && rows[1].group.loss == nil, "one fence has no interval")
  }

  @Test("when lost pings come in few fences, then the interval counts fences, and is wider than that of single pings")
  func interval() throws {
    var random = SeededGenerator(seed: 3)
    let group = try #require(
      breakdown(
        (0..<400).map { index in
          let isBad = Int.random(in: 0..<20, using: &random) == 0
          return .of(.sample(number: index, pings: 40, answered: isBad ? 10 : 40, rttSumNanoseconds: 40_000_000))
        }
      ).links.rows.first?.group)
    let (loss, share) = (try #require(group.loss), try #require(group.sums.loss))
    #expect(loss.lower < share && share < loss.upper)
    #expect(loss.effective < Double(group.sums.pings))
  }

  @Test("when fences are many, then runs of them are the samples, and sums and interval stay")
  func runs() throws {
    var random = SeededGenerator(seed: 4)
    func group(_ fences: Int) throws -> FenceGroup {
      try #require(
        breakdown(
          (0..<fences).map { index in
            let isSilent = Int.random(in: 0..<10, using: &random) == 0
            return .of(
              .sample(
                number: index, latitude: 40 + Double(index) * 0.0004, pings: 10, answered: isSilent ? 0 : 9,
                rttSumNanoseconds: 90_000_000))
          }
        ).links.rows.first?.group)
    }
    let (few, many) = (try group(1000), try group(9000))
    #expect(many.fences == 9000 && many.sums.pings == 90_000)
    #expect(abs((many.silentShare ?? 0) - 0.1) < 0.02 && abs(many.metres.measured - 8999 * 44.4) < 500)
    let widths = try [few, many].map { try #require($0.loss) }.map { $0.upper - $0.lower }
    #expect(widths[1] < widths[0], "nine times as many fences tell more")
  }

  @Test("when the distance is long, then there are at most 200 pieces of equal length, with all pings")
  func pieces() {
    var profile = WayProfile()
    for index in 0..<5000 {
      profile.add(
        .sample(number: index, pings: 3, answered: 3), drive: index < 2500 ? 1 : 2, metres: index == 0 ? nil : 40)
    }
    #expect(profile.pieces.count <= WayProfile.most && profile.pieces.count > WayProfile.most / 2)
    #expect(abs(profile.metres - 4999 * 40) < 1e-6 && profile.length == 1600)
    #expect(profile.pieces.reduce(0) { $0 + $1.pings } == 15_000)
    #expect(profile.starts.count == 2 && abs(profile.starts[1] - 100_000) < 1e-6)
  }

  @Test("when delays are in bins, then percentiles are the lowest delay of their bin, and the shares rise to 1")
  func delays() throws {
    var delays = Distribution()
    // 100 µs, 200 µs (bin 64 + 100), and 10 ms.
    delays.add(try #require(DelayBins("100=2 164=1 526=1")))
    delays.add(try #require(DelayBins("100=1")))
    #expect(delays.count == 5 && delays.value(atPercentile: 50) == 100 && delays.value(atPercentile: 80) == 200)
    #expect(delays.steps.map(\.share) == [0.6, 0.8, 1] && delays.steps.map(\.value).prefix(2) == [100, 200])
    let greatest = try #require(delays.value(atPercentile: 99))
    #expect((9_800...10_000).contains(greatest))
    #expect(DelayBins("65535=1")?.counts.count == 1, "no number from a store may trap")
  }

  @Test("when the modem told the signal, then each fence counts once for the quantity of its technology")
  func signal() throws {
    func radio(_ levels: [(SignalQuantity, Double)]) -> FenceRadio {
      var radio = FenceRadio()
      radio.levels = levels.map { .init(quantity: $0, minimum: $1 - 3, median: $1, maximum: $1 + 3) }
      return radio
    }
    let found = breakdown(
      (0..<20).map { index in
        .of(.sample(number: index, radio: radio([(.rssi, -60), (.rsrp, -100 + Double(index))])))
      } + [
        .of(.sample(number: 20, technology: "3G/UMTS", radio: radio([(.rssi, -70)]))), .of(.sample(number: 21)),
        .of(.sample(number: 22, radio: radio([(.rsrp, -32768)]))),
      ]
    ).signal.boxes
    #expect(found.map(\.key.reception) == [.three, .four] && found.map(\.key.quantity) == [.rssi, .rsrp])
    #expect(found.map(\.fences) == [1, 20] && found[1].levels == [-100, -96, -91, -86, -82])
  }

  @Test(
    "when a fence was on two technologies with one quantity, then it has no level of either; 5G standalone is not beside LTE"
  )
  func twoTechnologies() {
    func found(_ technologies: [(String, Int64)], _ quantity: SignalQuantity) -> (signal: Int, besideLTE: Int) {
      var radio = FenceRadio()
      radio.technologies = technologies.map { .init(technology: $0, microseconds: $1) }
      radio.levels = [.init(quantity: quantity, minimum: -90, median: -80, maximum: -70)]
      radio.cell = .sample(1)
      let found = breakdown([.of(.sample(number: 0, radio: radio))])
      return (found.signal.boxes.count, found.bands.rows.reduce(0) { $0 + $1.row.secondarySignal.count })
    }
    #expect(found([("2G/EDGE", 9)], .rssi).signal == 1)
    #expect(found([("2G/EDGE", 9), ("3G/UMTS", 3)], .rssi).signal == 0)
    #expect(found([("5G/NR", 9), ("4G/LTE", 3)], .nrRSRP).signal == 1)
    #expect(found([("5G/NR", 9), ("5G/NRNSA", 3)], .nrRSRP).signal == 0)
    #expect(found([("4G/LTE", 9)], .nrRSRP).besideLTE == 1)
    #expect(found([("5G/NR", 3), ("4G/LTE", 9)], .nrRSRP).besideLTE == 0)
  }

  @Test("when the last cell of a fence is of another kind than most of its time, then the cell decides its technology")
  func lastCell() throws {
    var radio = FenceRadio()
    radio.technologies = [.init(technology: "3G/HSPA+", microseconds: 9)]
    radio.levels = [.init(quantity: .rscp, minimum: -90, median: -80, maximum: -70)]
    radio.cell = .secondary
    let rows = breakdown([.of(.sample(number: 0, radio: radio))]).bands.rows
    #expect(rows.map(\.key.name) == ["5G SA, n77/n78"] && rows.first?.row.signal.count == 0)
  }

  @Test("when the figures of a modem are the largest, as in a damaged store, then there are still rows")
  func largestCells() throws {
    var figures = ReportFigures()
    for (number, least) in [false, true].enumerated() {
      var (radio, environment) = (FenceRadio.sample, try #require(RadioEnvironment(.sample)))
      (environment.carriers, environment.neighbours) = (.max, least ? .min : .max)
      environment.timingAdvance = least ? .min : .max
      environment.strongest = MeasuredCell(.sample(1), levels: [.rsrp: .infinity])
      radio.levels = [.init(quantity: .rsrp, minimum: .nan, median: .nan, maximum: .nan)]
      radio.environment = environment
      figures.add(.of(.sample(number: number, radio: radio)))
    }
    let report = Report(parts: [.init(title: "A", figures: figures)], comparison: nil)
    #expect(ReportPage(report).html.contains("beside LTE</th>") && !report.json.text.contains("null"))
  }

  @Test("when fences are on a long road, then the overview has few cells, and none loses a silent fence")
  func overview() {
    var overview = Overview()
    for index in 0..<20_000 {
      overview.add(
        .sample(number: index, latitude: 40 + Double(index) * 0.0005, answered: index == 777 ? 0 : 39), link: "A")
    }
    #expect(overview.sorted.count <= Overview.most && overview.sorted.count > Overview.most / 4)
    #expect(overview.sorted.reduce(0) { $0 + ($1.links["A"]?.pings ?? 0) } == 800_000)
    #expect(overview.sorted.first.map { $0.place.latitude > 49 } == true, "north first")
  }

  @Test("when one of two links is silent at a place, then the overview has the place without an answer")
  func overviewOfLinks() {
    func circles(_ answered: [Int]) -> Int {
      var overview = Overview()
      for (link, answered) in zip(["A", "B"], answered) {
        overview.add(.sample(number: 0, answered: answered), link: link)
      }
      let svg = OverviewMap(cells: overview.sorted, worst: []).svg()
      return svg.matches(of: /<circle class="lost"/).count
    }
    #expect((circles([39, 39]), circles([39, 0]), circles([0, 39])) == (0, 1, 1))
  }

  @Test("when operator and SIM are known, then the facts have them with their country, and what is unknown is left out")
  func facts() throws {
    var radio = FenceRadio()
    (radio.operatorCode, radio.operatorName) = ("23201", "A \u{202e}Net")
    (radio.simOperatorCode, radio.isRoaming) = ("26201", true)
    let facts = breakdown([.of(.sample(number: 0, radio: radio)), .of(.sample(number: 1))]).facts
    #expect(facts.operators == ["A  Net (23201)": 1] && facts.simOperators == ["26201, country DE": 1])
    #expect(facts.roaming == 1 && facts.clocks.isEmpty && facts.hasServer)
  }
}

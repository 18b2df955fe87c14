import Coverage
import Foundation
import TestSupport
import Testing

@testable import Driving
@testable import Service
@testable import Submission

/// Metrics for a monitoring system (docs/service.md).
struct MetricsTests {
  private func totals(_ rtts: [Int64], lost: Int = 0, fences: Int = 0) -> DriveTotals {
    var totals = DriveTotals()
    for rtt in rtts { totals.count(.answered(rttNanoseconds: rtt)) }
    for _ in 0..<lost { totals.count(.failed(.timeout)) }
    totals.fences = fences
    return totals
  }

  private func text(_ change: (inout ServiceStatus) -> Void = { _ in }) -> String {
    var status = ServiceStatus(started: .sampleStart)
    change(&status)
    return ServiceMetrics(status, process: nil).text
  }

  @Test("when pings were counted, then the histogram has cumulative buckets, the sum in seconds and the count")
  func histogram() {
    let text = text { $0.totals = ["": totals([4_000_000, 5_000_000, 5_000_001, 2_000_000_000], lost: 3, fences: 7)] }
    #expect(text.contains("# TYPE coverage_probe_ping_delay_seconds histogram\n"))
    for line in [
      #"coverage_probe_ping_delay_seconds_bucket{le="0.005"} 2"#,
      #"coverage_probe_ping_delay_seconds_bucket{le="0.01"} 3"#,
      #"coverage_probe_ping_delay_seconds_bucket{le="1.0"} 3"#,
      #"coverage_probe_ping_delay_seconds_bucket{le="+Inf"} 4"#,
      "coverage_probe_ping_delay_seconds_sum 2.014000001", "coverage_probe_ping_delay_seconds_count 4",
      "coverage_probe_pings_total 7", "coverage_probe_pings_lost_total 3", "coverage_probe_fences_total 7",
    ] { #expect(text.contains(line + "\n"), "\(line)") }
  }

  @Test("when a drive has ended, then each of its pings is counted in one place")
  func places() {
    var engine = Engine(path: .wifi)
    let place = Coordinate(latitude: 48, longitude: 16)
    let events: [(Double, Event.Kind)] = [
      (0.5, .ping(.failed(.timeout))), (1, .path(.cellular)), (1.5, .ping(.failed(.timeout))),
      (1.5, .late(rttNanoseconds: 1)),
      (2, .fix(Fix(coordinate: place, accuracy: 5))), (2.5, .ping(.answered(rttNanoseconds: 1))), (3, .stop(.user)),
    ]
    for (at, kind) in events { _ = engine.handle(Event(at: .seconds(at), kind)) }
    var totals = DriveTotals()
    totals.follow(engine)
    let text = text { $0.totals = ["A": totals] }
    for place in ["fence", "outside", "paused"] {
      #expect(text.contains("coverage_probe_pings_placed_total{link=\"A\",place=\"\(place)\"} 1\n"), "\(text)")
    }
    #expect(text.contains("coverage_probe_pings_late_total{link=\"A\"} 1\n"))
  }

  @Test("when there are several links, then each has its label, and characters of the format are escaped in it")
  func links() {
    let text = text { $0.totals = ["A": totals([1]), "B \"x\" \\\n": totals([], lost: 2)] }
    #expect(text.contains("coverage_probe_pings_total{link=\"A\"} 1\n"))
    #expect(text.contains(#"coverage_probe_pings_lost_total{link="B \"x\" \\\n"} 2"# + "\n"))
    #expect(text.contains(#"coverage_probe_ping_delay_seconds_bucket{link="A",le="0.005"} 1"# + "\n"))
    #expect(text.ranges(of: "# TYPE coverage_probe_pings_total counter").count == 1)
  }

  @Test("when a drive runs, then its technology and its warnings are samples; without a drive they are absent")
  func drive() {
    var link = DriveStatus()
    (link.technology, link.warnings) = (Technology("5G/NR"), ["a", "b"])
    let text = text { $0.links = [link] }
    #expect(text.contains("coverage_probe_technology_info{technology=\"5G/NR\"} 1\n"))
    #expect(text.contains("coverage_probe_warnings 2\n"))
    #expect(!self.text().contains("technology_info"))
  }

  @Test("when sessions wait, then a metric has the start of the oldest; otherwise it is absent")
  func queue() {
    let text = text { $0.waiting.oldest = .sampleStart }
    #expect(text.contains("coverage_probe_oldest_waiting_session_timestamp_seconds 1795168800.0\n"))
    #expect(!self.text().contains("oldest_waiting"))
    #expect(self.text().contains("coverage_probe_waiting_fences 0\n"))
    let unreadable = self.text { $0.disk.isStoreReadable = false }
    #expect(!unreadable.contains("waiting_fences") && !unreadable.contains("quarantined_fences"))
  }

  @Test("when totals of two drives are added, then the sum is the totals of all their pings")
  func sums() {
    var sum = totals([1_000_000, 60_000_000], lost: 1, fences: 2)
    sum.add(totals([2_000_000, 3_000_000_000], lost: 4, fences: 5))
    var all = totals([1_000_000, 60_000_000, 2_000_000, 3_000_000_000], lost: 5)
    all.fences = 7
    #expect(sum == all)
    #expect(sum.delays.cumulative.first == 2 && sum.delays.cumulative.last == 3 && sum.delays.count == 4)
  }

  @Test("when times are extreme, then nothing traps, and the sum saturates")
  func extremes() {
    var histogram = DelayHistogram()
    for time in [Int64.max, .max, .min, 0] { histogram.count(time) }
    #expect(histogram.count == 4 && histogram.sumNanoseconds == .max && histogram.cumulative.last == 2)
  }

  // MARK: The process

  @Test("when the kernel's line is read, then a name with spaces and parentheses does not move its fields")
  func process() throws {
    let rest = "S 1 2 3 0 -1 4194560 100 0 0 0 250 150 0 0 20 0 7 0 4242 123456789 2048 1844674"
    let figures = try #require(
      ProcessFigures(stat: "77 (a) b (c) \(rest)\n", ticksPerSecond: 100, pageBytes: 4096, descriptors: 12))
    #expect(figures.processorSeconds == 4 && figures.virtualBytes == 123_456_789)
    #expect(figures.residentBytes == 2048 * 4096 && figures.descriptors == 12)
  }

  @Test(
    "when the kernel's line is malformed, then there are no figures",
    arguments: ["", "77", "77 (a) S 1 2", "77 (a) S x y z"])
  func noProcess(stat: String) {
    #expect(ProcessFigures(stat: stat, ticksPerSecond: 100, pageBytes: 4096, descriptors: nil) == nil)
  }

  @Test("when the figures of this process are read, then it has used time and memory")
  func own() throws {
    let own = try #require(ProcessFigures.own)
    #expect(own.processorSeconds > 0 && own.residentBytes > 1 << 20 && own.virtualBytes > own.residentBytes)
    #expect(own.descriptors ?? 0 > 2)
    let text = ServiceMetrics(ServiceStatus(started: .sampleStart), process: own).text
    #expect(text.contains("# TYPE process_cpu_seconds_total counter\n") && text.contains("\nprocess_open_fds "))
  }

  // MARK: Documents

  /// The names of all metrics that a service can have.
  private var names: Set<Substring> {
    var link = DriveStatus()
    link.technology = Technology("4G/LTE")
    let text = text {
      ($0.totals, $0.links, $0.receiver.fix, $0.receiver.fixAge) = (["": totals([1])], [link], Fix.sample, .seconds(1))
      ($0.waiting.oldest, $0.disk.stateBytes, $0.disk.freeBytes) = (.sampleStart, 1, 1)
      $0.sender = SenderStatus(ServerGate(), at: .zero)
    }
    let own = ServiceMetrics(ServiceStatus(started: .sampleStart), process: .own).text
    return Set((text + own).matches(of: #/# TYPE (\S+) /#).map(\.1))
  }

  @Test("when a metric is written, then docs/service.md has its name")
  func documented() throws {
    let page = try String(contentsOf: Surroundings.root.appending(path: "docs/service.md"), encoding: .utf8)
    for name in names { #expect(page.contains("`\(name)`"), "\(name)") }
  }

  @Test("when the dashboard asks for a metric, then the service has it")
  func dashboard() throws {
    let json = try String(
      contentsOf: Surroundings.root.appending(path: "docs/grafana/coverage-probe.json"), encoding: .utf8)
    #expect(try JSONSerialization.jsonObject(with: Data(json.utf8)) is [String: Any])
    let asked = json.matches(of: /(coverage_probe_\w+|process_\w+)/).map {
      $0.1.hasSuffix("_bucket") ? $0.1.dropLast(7) : $0.1
    }
    #expect(asked.count > 10)
    for name in Set(asked) { #expect(names.contains(name), "\(name)") }
  }

  @Test(
    "when promtool checks the metrics, then it reports nothing",
    .enabled(if: Surroundings.program("promtool") != nil, "Debian's package prometheus is not installed"))
  func promtool() async throws {
    let folder = try TemporaryFolder()
    let text = text { $0.totals = ["A": totals([1, 20_000_000], lost: 1)] }
    let file = try folder.write(text + "", to: "metrics")
    let check = try RunningProgram(URL(filePath: "/bin/sh"), ["-c", "promtool check metrics < \(file)"])
    #expect(try await check.exitStatus() == 0, "\(check.standardOutput)\(check.standardError)")
    #expect((check.standardOutput + check.standardError).isEmpty)
  }
}

extension Fix {
  fileprivate static let sample = Fix(coordinate: Coordinate(latitude: 48.2, longitude: 16.3), accuracy: 5)
}

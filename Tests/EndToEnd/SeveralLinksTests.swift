import Foundation
import TestSupport
import Testing

/// One drive over the modems of two operators.
@Suite(
  .serialized,
  .enabled(if: Surroundings.mayMakeNetworks, "networks of its own need CAP_SYS_ADMIN, CAP_NET_ADMIN, ip and nsenter"))
struct SeveralLinksTests {
  @Test(
    "when one of two links dies for a while, then the other's fences are unaffected, and the fences of both are sent")
  func oneDies() async throws {
    var roads = try await Roads()
    for (name, net, metric) in [("wl1", 1, 10), ("wl2", 2, 20)] {
      try await roads.probe.connect(name, to: roads.far, net: net)
      try await roads.probe.run("ip route add \(Roads.server) via 10.\(net).0.1 dev \(name) metric \(metric)")
    }
    try await roads.open(
      settings: """
        links:
          - { name: Тест, interface: wl1, radio: "fixed:4G/LTE", network: fixed-cellular }
          - { name: 車1, interface: wl2, radio: "fixed:5G/NR", network: fixed-cellular }
        """)
    let record = try roads.start("record")
    func fences() async throws -> [Int] {
      let sessions = try await roads.sessions()
      return ["Тест", "車1"].map { link in
        sessions.filter { $0["link"] as? String == link }.compactMap { $0["fences"] as? Int }.reduce(0, +)
      }
    }
    func wait(forMore count: Int) async throws {
      let before = try await fences()
      _ = try await eventually("\(count) more fences on each link") {
        zip(before, try await fences()).allSatisfy { $1 >= $0 + count } ? () : nil
      }
    }
    try await wait(forMore: 4)
    try await roads.probe.run("ip link set wl2 down")
    try await wait(forMore: 5)
    try await roads.probe.run(
      "ip link set wl2 up && ip route replace \(Roads.server) via 10.2.0.1 dev wl2 metric 20")
    try await wait(forMore: 4)
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")
    #expect(record.standardError.contains("車1: network path: none, "), "\(record.standardError)")

    let exported = try await roads.lines("export", ["--format", "jsonl"])
    let byLink = Dictionary(grouping: exported) { $0["link"] as? String ?? "-" }
    #expect(Set(byLink.keys) == ["Тест", "車1"])
    func figures(_ link: String) -> [(pings: Int, answered: Int)] {
      (byLink[link] ?? []).map { ($0["pings"] as? Int ?? 0, $0["pings_ok"] as? Int ?? 0) }
    }
    #expect(figures("Тест").allSatisfy { $0.pings == $0.answered }, "\(figures("Тест"))")
    #expect(figures("車1").contains { $0.pings > 0 && $0.answered == 0 }, "\(figures("車1"))")
    #expect(figures("車1").suffix(2).contains { $0.answered > 0 }, "it is back: \(figures("車1"))")
    #expect(byLink["Тест"]?.allSatisfy { $0["technology"] as? String == "4G/LTE" } == true)
    #expect(byLink["車1"]?.allSatisfy { $0["technology"] as? String == "5G/NR" } == true)
    let sent = exported.map { "\($0["test_uuid"] ?? "-") \($0["offset_ms"] ?? "-")" }
    #expect(try await roads.fencesAtServer().sorted() == sent.sorted())
    // Only the store has times of day and ids; only the replay has times since the start.
    let others: Set = [
      "id", "session", "drive", "store_id", "clock", "quarantined", "entered_at", "exited_at", "entered", "exited",
    ]
    func figuresOnly(_ fences: [[String: Any]]) throws -> [String] {
      try fences.map { fence in
        let figures = fence.filter { !others.contains($0.key) }
        return String(
          decoding: try JSONSerialization.data(withJSONObject: figures, options: .sortedKeys), as: UTF8.self)
      }.sorted()
    }
    // On a busy machine, a fence can end before the first ping is sent.
    let all = try await roads.lines("export", ["--format", "jsonl", "--state", "all"])
    let differences = try figuresOnly(await roads.replayed()).difference(from: figuresOnly(all))
    #expect(differences.isEmpty, "replay and export agree in every figure: \(differences)")
  }

  @Test("when the default route is over another link, then a bound link's test is still requested over the bound link")
  func boundRequest() async throws {
    var roads = try await Roads()
    for (name, net, metric) in [("wl1", 1, 10), ("wl2", 2, 20)] {
      try await roads.probe.connect(name, to: roads.far, net: net)
      try await roads.probe.run("ip route add \(Roads.server) via 10.\(net).0.1 dev \(name) metric \(metric)")
    }
    try await roads.open(settings: "network: { source: fixed-cellular }\npings: { interface: wl2 }")
    let record = try roads.start("record")
    // The token is valid for the request's source address: with another, the server would refuse every ping.
    try await roads.wait(for: 10, "answered pings") { $0.isAnswer }
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")
    #expect(!record.standardError.contains("RE01"), "\(record.standardError)")
  }

  @Test(
    "when the link of all other traffic is silent, then a bound link gets its first test, and after the name is lost another one"
  )
  func otherLinkSilent() async throws {
    var roads = try await Roads()
    for (name, net, metric) in [("wl1", 1, 10), ("wl2", 2, 20)] {
      try await roads.probe.connect(name, to: roads.far, net: net)
      try await roads.probe.run("ip route add \(Roads.server) via 10.\(net).0.1 dev \(name) metric \(metric)")
    }
    try await roads.far.run("ip route add blackhole 10.1.0.2")
    let hosts = try roads.folder.write("\(Roads.server) control.test\n", to: "hosts")
    try await roads.probe.run("mount --bind \(hosts) /etc/hosts")
    try await roads.open(
      controlName: "control.test", settings: "network: { source: fixed-cellular }\npings: { interface: wl2 }")
    let record = try roads.start("record")
    try await roads.wait(for: 10, "answered pings") { $0.isAnswer }
    try await roads.probe.run(
      """
      echo >/etc/hosts
      ip address flush dev wl2 && ip address add 10.2.0.3/24 dev wl2
      ip route add \(Roads.server) via 10.2.0.1 dev wl2 metric 20
      """)
    let other = try await roads.wait(for: 2, "tests") { $0.isTest }
    try await roads.wait(for: 10, "answered pings", after: other) { $0.isAnswer }
    record.signal(SIGTERM)
    _ = try await record.exitStatus()
  }
}

import Foundation
import TestSupport
import Testing

/// Drives over changing links, in private networks.
@Suite(
  .serialized,
  .enabled(if: Surroundings.mayMakeNetworks, "networks of its own need CAP_SYS_ADMIN, CAP_NET_ADMIN, ip and nsenter"))
struct LinkTests {
  /// Makes sysfs describe a cable as a modem's or a Wi-Fi link.
  private enum Disguise: String {
    case modem = "echo DEVTYPE=wwan >$link/uevent"
    case radio = "echo DEVTYPE=wlan >$link/uevent; mkdir -p $link/phy80211"

    func script(_ name: String) -> String {
      """
      mountpoint -q /sys/class/net || mount -t tmpfs none /sys/class/net
      link=/sys/class/net/\(name)
      mkdir -p $link
      ip -o link show \(name) | cut -d: -f1 >$link/ifindex
      \(rawValue)
      """
    }
  }

  @Test("when the route moves to Wi-Fi and back, then pings pause, fences are marked, and another test follows")
  func toWiFiAndBack() async throws {
    var roads = try await Roads()
    try await roads.probe.connect("wwan0", to: roads.far, net: 1, preparing: Disguise.modem.script("wwan0"))
    try await roads.probe.connect("wlan0", to: roads.far, net: 2, preparing: Disguise.radio.script("wlan0"))
    try await roads.probe.run("ip route add \(Roads.server) via 10.1.0.1")
    try await roads.open(settings: "network: { source: auto }\nlocation: { minimum-radius: 15 }")
    let record = try roads.start("record")
    try await roads.wait(for: 20, "answered pings") { $0.isAnswer }

    try await roads.probe.run("ip route replace \(Roads.server) via 10.2.0.1")
    let changed = ProgressWatch()
    let onWiFi = try await roads.wait(for: 1, "change to Wi-Fi") { $0.path == "wifi" }
    // Without the kernel's message it would take ten seconds.
    #expect(changed.passed < .seconds(4))
    try await roads.wait(for: 30, "positions on Wi-Fi", after: onWiFi) { $0.isFix }

    try await roads.probe.run("ip route replace \(Roads.server) via 10.1.0.1")
    let back = try await roads.wait(for: 1, "change back", after: onWiFi) { $0.path == "cellular" }
    // There may be one more test, if pings left by the other link before the kernel's message.
    let another = try await roads.wait(for: 1, "another test", after: back) { $0.isTest }
    try await roads.wait(for: 20, "answered pings on it", after: another) { $0.isAnswer }
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")

    // Pings due at the change of path may have been under way.
    #expect(try !roads.events().contains { $0.isPing && $0.at > onWiFi + 0.5 && $0.at < back })
    #expect(back > onWiFi + 1)
    try await expectMarked(roads, between: onWiFi, and: back)
    for line in [
      "network path: cellular, the route leaves by wwan0, a modem",
      "network path: wifi, the route leaves by wlan0, a Wi-Fi link",
    ] {
      #expect(record.standardError.contains(line), "\(record.standardError)")
    }
  }

  /// Fences that overlap the time on Wi-Fi are kept and marked, and the server has exactly the others.
  private func expectMarked(_ roads: Roads, between start: Double, and end: Double) async throws {
    let fences = try await roads.lines("export", ["--format", "jsonl", "--state", "all"])
    let marked = fences.filter { $0["submittable"] as? Bool == false }
    #expect(marked.count >= 2)
    #expect(marked.count < fences.count)
    let clean = fences.filter { $0["submittable"] as? Bool == true }
    let sent = clean.map { "\($0["test_uuid"] ?? "-") \($0["offset_ms"] ?? "-")" }
    #expect(try await roads.fencesAtServer().sorted() == sent.sorted())
    #expect(
      try await roads.sessions().allSatisfy {
        $0["state"] as? String == "submitted" || $0["submittable_fences"] as? Int == 0
      })

    let replayed = try await roads.lines("replay", [try roads.driveLog()]).filter { $0["summary"] == nil }
    #expect(replayed.count == fences.count)
    for fence in replayed {
      let (entered, exited) = (fence["entered"] as? Double ?? 0, fence["exited"] as? Double ?? .infinity)
      // A fence that ends exactly when Wi-Fi begins does not overlap it: on a busy host, both events come at once.
      let overlaps = entered < end && exited > start
      // On a busy host, a short one has no ping, and waits for a test: it was not measured.
      guard overlaps || fence["pings"] as? Int ?? 0 > 0 else { continue }
      #expect(fence["submittable"] as? Bool == !overlaps, "fence from \(entered) to \(exited)")
    }
  }

  /// A modem and a Wi-Fi link; the route to the servers leaves by Wi-Fi.
  private func twoLinks(testSeconds: Int, settings: String) async throws -> Roads {
    var roads = try await Roads()
    try await roads.probe.connect("wwan0", to: roads.far, net: 1, preparing: Disguise.modem.script("wwan0"))
    try await roads.probe.connect("wlan0", to: roads.far, net: 2, preparing: Disguise.radio.script("wlan0"))
    try await roads.probe.run("ip route add \(Roads.server) via 10.2.0.1")
    try await roads.open(testSeconds: testSeconds, settings: "network: { source: auto }\n\(settings)")
    return roads
  }

  private func speedTestsAtServer(_ roads: Roads) async throws -> [[String: Any]] {
    try await roads.held()["speed_tests"] as? [[String: Any]] ?? []
  }

  @Test("when a speed test runs on Wi-Fi beside a modem, then it is Wi-Fi's everywhere; on the modem it is LTE's")
  func speedTests() async throws {
    let roads = try await twoLinks(testSeconds: 1, settings: "submission: { spread: 0s }")
    let onWiFi = try roads.start("speedtest")
    #expect(try await onWiFi.exitStatus() == 0, "\(onWiFi.standardError)")
    #expect(onWiFi.standardOutput.contains("link      wlan0, Wi-Fi: no figures of a mobile network\n"))
    try await roads.probe.run("ip route replace \(Roads.server) via 10.1.0.1")
    let onModem = try roads.start("speedtest")
    #expect(try await onModem.exitStatus() == 0, "\(onModem.standardError)")
    #expect(onModem.standardOutput.contains("link      wwan0, mobile network\n"))
    let held = try await speedTestsAtServer(roads)
    #expect(held.map { $0["network_type"] as? Int } == [99, 13])
    #expect(held.map { $0["deleted"] as? Bool } == [false, false])
    let exported = try await roads.lines("export", ["--speed-tests", "--format", "jsonl"])
    #expect(exported.map { $0["link"] as? String } == ["wifi", "cellular"])
    #expect(exported.map { $0["technology"] as? String } == [nil, "4G/LTE"])
    #expect(exported.map { $0["link_changed"] as? Bool } == [false, false])
  }

  @Test("when a loop ends on Wi-Fi without a test, then its last line and its status are those of a drive there")
  func loopOnWiFi() async throws {
    let roads = try await twoLinks(testSeconds: 1, settings: "submission: { spread: 0s }")
    let loop = try roads.start("loop", ["--no-submit"])
    _ = try await eventually("the notice") {
      loop.standardError.contains("test 1 of the loop is due, but the route") ? true : nil
    }
    loop.signal(SIGINT)
    #expect(try await loop.exitStatus() == 69)
    #expect(loop.standardOutput.contains("no test was made: the route left by wlan0, a Wi-Fi link\n"))
  }

  @Test(
    "when a loop is on Wi-Fi, then no test starts before the modem carries it; a change of link within a test marks it")
  func loops() async throws {
    let roads = try await twoLinks(
      testSeconds: 4, settings: "submission: { spread: 0s }\nloop: { count: 1, distance: null }")
    let loop = try roads.start("loop")
    _ = try await eventually("the notice") {
      loop.standardError.contains("the route leaves by wlan0, a Wi-Fi link: it starts on a mobile network") ? true : nil
    }
    #expect(try await speedTestsAtServer(roads).isEmpty)
    try await roads.probe.run("ip route replace \(Roads.server) via 10.1.0.1")
    _ = try await eventually("the test runs") { try await speedTestsAtServer(roads).isEmpty ? nil : true }
    // The source address stays, so that the connections survive the change.
    try await roads.probe.run("ip route replace \(Roads.server) via 10.2.0.1 src 10.1.0.2")
    try await roads.far.run("ip route add 10.1.0.2 via 10.2.0.2")
    #expect(try await loop.exitStatus(within: .seconds(120)) == 0, "\(loop.standardError)")
    let test = try #require(try await roads.lines("export", ["--speed-tests", "--format", "jsonl"]).first)
    #expect(test["link"] as? String == "mixed" && test["link_changed"] as? Bool == true, "\(loop.standardError)")
    #expect(test["link_interface"] as? String == "wwan0, wlan0" && test["technology"] == nil)
    #expect(try await speedTestsAtServer(roads).map { $0["network_type"] as? Int } == [98])
  }

  @Test("when the link of the pings goes away, then no ping uses another link, and pings continue when it is back")
  func interfaceGone() async throws {
    var roads = try await Roads()
    // One address on all links, because a token is valid for one; the control server has its own link.
    func connect(
      _ name: String, net: Int, to host: String, metric: Int, preparing: String = "true"
    ) async throws {
      try await roads.probe.connect(name, to: roads.far, net: net, preparing: preparing)
      try await roads.probe.run("ip route add \(host) via 10.\(net).0.1 src 10.5.0.2 metric \(metric)")
    }
    try await roads.probe.run("ip address add 10.5.0.2/32 dev lo")
    try await roads.far.run("ip address add 10.9.0.2/32 dev lo")
    try await connect("mgmt0", net: 1, to: Roads.server, metric: 1)
    try await connect("eth1", net: 3, to: "10.9.0.2", metric: 2)
    try await roads.far.run("ip route add 10.5.0.2 via 10.1.0.2 metric 9")
    func connectModem() async throws {
      try await connect(
        "wwan0", net: 2, to: "10.9.0.2", metric: 1, preparing: Disguise.modem.script("wwan0"))
      // Tests are requested over the link of the pings; fences are submitted over the control server's link.
      try await roads.probe.run("ip route add \(Roads.server) via 10.2.0.1 src 10.5.0.2 metric 3")
      try await roads.far.run("ip route add 10.5.0.2 via 10.2.0.2 metric 1")
    }
    try await connectModem()
    try await roads.open(
      pingHost: "10.9.0.2", settings: "network: { source: auto }\npings: { interface: wwan0, timeout: 300ms }"
    )
    let reflector = try await roads.reflector(at: "10.9.0.2")
    defer { reflector.signal(SIGTERM) }
    let record = try roads.start("record")
    try await roads.wait(for: 10, "answered pings") { $0.isAnswer }
    #expect(try await roads.probe.packetsSent(by: "wwan0") > 10)

    try await roads.probe.run("ip link del wwan0")
    let gone = try await roads.wait(for: 1, "ping that is not sent") { $0.isNotSent }
    try await roads.wait(for: 20, "pings that are not sent", after: gone) { $0.isNotSent }
    let detour = try await roads.probe.run("ip route get 10.9.0.2")
    #expect(detour.contains("dev eth1"), "an unbound socket would send over the other link: \(detour)")

    try await connectModem()
    try await roads.wait(for: 20, "answered pings afterwards", after: gone + 1) { $0.isAnswer }
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")
    #expect(try await roads.probe.packetsSent(by: "eth1") == 0)
    #expect(try roads.events().compactMap(\.path).suffix(2) == ["none", "cellular"])
    #expect(record.standardError.contains("network path: none, there is no interface wwan0"), "\(record.standardError)")
  }

  @Test(
    "when there is no route at first, then the drive continues without one, and pings start as soon as there is one")
  func routeComesLater() async throws {
    var roads = try await Roads()
    try await roads.probe.connect("wwan0", to: roads.far, net: 1, preparing: Disguise.modem.script("wwan0"))
    try await roads.open(settings: "network: { source: auto }")
    let record = try roads.start("record")
    // Now requests for a test are several seconds apart.
    try await roads.wait(for: 60, "positions") { $0.isFix }
    try await roads.probe.run("ip route add \(Roads.server) via 10.1.0.1")
    let connected = try await roads.wait(for: 1, "path") { $0.path == "cellular" }
    let answered = try await roads.wait(for: 1, "answered ping") { $0.isAnswer }
    #expect((0..<2).contains(answered - connected))
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")
    #expect(record.standardError.contains("network path: none, there is no route to \(Roads.server)"))
    #expect(try await roads.fencesAtServer().count >= 2)
  }

  @Test("when the route leaves by Ethernet, then no ping is sent, and a line says how to declare the link")
  func ethernet() async throws {
    var roads = try await Roads()
    try await roads.probe.connect("eth0", to: roads.far, net: 1)
    try await roads.probe.run("ip route add \(Roads.server) via 10.1.0.1")
    try await roads.open(settings: "network: { source: auto }")
    let record = try roads.start("record")
    _ = try await eventually("the status") {
      record.standardError.contains("! on eth0, an Ethernet link, not measuring") ? () : nil
    }
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 69, "\(record.standardError)")
    let advice =
      "the route leaves by eth0, an Ethernet link: counted as not cellular; set network.source: fixed-cellular if"
    #expect(record.standardError.contains(advice), "\(record.standardError)")
    #expect(record.standardOutput.contains("nothing to submit"))
    let reason = "no ping was sent: the route left by eth0, an Ethernet link, which counts as Wi-Fi; set "
    #expect(record.standardOutput.split(separator: "\n").last?.hasPrefix(reason) == true, "\(record.standardOutput)")
    #expect(try !roads.events().contains { $0.isPing })
  }

  @Test("when the ping server's name gets another address, then the drive continues there with another test")
  func serverMoves() async throws {
    var roads = try await Roads()
    try await roads.probe.connect("wwan0", to: roads.far, net: 1)
    try await roads.probe.run("ip route add 10.9.0.0/24 via 10.1.0.1")
    try await roads.far.run("ip address add 10.9.0.2/32 dev lo && ip address add 10.9.0.3/32 dev lo")
    let hosts = try roads.folder.write("10.9.0.2 ping.test\n", to: "hosts")
    try await roads.probe.run("mount --bind \(hosts) /etc/hosts")
    let old = try await roads.reflector(at: "10.9.0.2")
    try await roads.open(
      pingHost: "ping.test",
      settings: """
        network: { source: fixed-cellular }
        pings: { timeout: 200ms }
        recovery: { failure-threshold: 10, backoff: 1s }
        """)
    let record = try roads.start("record")
    try await roads.wait(for: 10, "answered pings") { $0.isAnswer }

    try await old.stop()
    let new = try await roads.reflector(at: "10.9.0.3")
    defer { new.signal(SIGTERM) }
    try await roads.probe.run("echo 10.9.0.3 ping.test >/etc/hosts")
    let silent = try await roads.wait(for: 1, "unanswered ping") { $0.isPing && !$0.isAnswer }
    try await roads.wait(for: 10, "answered pings", after: silent) { $0.isAnswer }
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")
    #expect(record.standardError.contains("pinging 10.9.0.2:4440"), "\(record.standardError)")
    #expect(record.standardError.contains("pinging 10.9.0.3:4440"))
    #expect(try await roads.sessions().count >= 2)
  }
}

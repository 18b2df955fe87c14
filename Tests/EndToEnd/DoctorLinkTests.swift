import Foundation
import TestSupport
import Testing

/// `doctor` and `record` on the same hosts, whose links and routes are good or broken in one way.
@Suite(
  .enabled(if: Surroundings.mayMakeNetworks, "networks of its own need CAP_SYS_ADMIN, CAP_NET_ADMIN, ip and nsenter"))
struct DoctorLinkTests {
  struct Host: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Commands in the network of the probe, which has the cables `wl1` and `wl2` to the servers and a route by each.
    var script = "true"
    var settings = "network: { source: fixed-cellular }"
    var url = "http://10.9.0.1:8080/RMBTControlServer"
    /// The words of the only fault, or warning of a host that is ready; `nil` for neither.
    var words: String?
    var isReady = false

    private static let twoLinks = """
      links:
        - { name: A, interface: wl1, network: fixed-cellular }
        - { name: B, interface: wl2, network: fixed-cellular }
      """

    static let all = [
      Host(testDescription: "a cable that is declared as a modem's", isReady: true),
      Host(
        testDescription: "a cable without a declaration", settings: "network: { source: auto }",
        words: "on wl1, an Ethernet link, not measuring"),
      Host(
        testDescription: "a link that is declared as Wi-Fi", settings: "network: { source: fixed-wifi }",
        words: "on Wi-Fi, not measuring"),
      Host(
        testDescription: "no route", script: "ip route del 10.9.0.1; ip route del 10.9.0.1", words: "there is no route"),
      Host(
        testDescription: "a prohibited route",
        script: "ip route del 10.9.0.1; ip route del 10.9.0.1; ip route add prohibit 10.9.0.1",
        words: "a rule of this host forbids packets to 10.9.0.1"),
      Host(
        testDescription: "the wanted interface is down", script: "ip link set wl2 down",
        settings: "network: { source: fixed-cellular }\npings: { interface: wl2 }",
        words: "there is no route to 10.9.0.1 by wl2"),
      Host(
        testDescription: "the wanted interface has no route, and the server is on its link",
        script: "ip route del 10.9.0.1 dev wl2",
        settings: "network: { source: fixed-cellular }\npings: { interface: wl2 }", isReady: true),
      Host(
        testDescription: "a default route by another link",
        settings: "network: { source: fixed-cellular }\npings: { interface: wl2 }",
        isReady: true),
      Host(testDescription: "two links", settings: twoLinks, isReady: true),
      Host(
        testDescription: "two links, one of them down", script: "ip link set wl2 down", settings: twoLinks,
        words: "link B: there is no route to 10.9.0.1 by wl2", isReady: true),
      Host(
        testDescription: "two links, both down", script: "ip link set wl1 down; ip link set wl2 down",
        settings: twoLinks,
        words: "link A: there is no route to 10.9.0.1 by wl1"),
      Host(
        testDescription: "no name server",
        script:
          "echo nameserver 127.0.0.1 >/tmp/resolv.$$; mount --bind /tmp/resolv.$$ /etc/resolv.conf; rm /tmp/resolv.$$",
        url: "http://control.example:8080/x", words: "Temporary failure in name resolution"),
      Host(
        testDescription: "pings that this host forbids",
        script: "ip rule add to 10.9.0.1 ipproto udp dport 4440 prohibit", words: "not sent"),
    ]

    /// Only where the host has nft.
    static let rejecting = [
      Host(
        testDescription: "a firewall of this host that rejects pings",
        script: "nft add table inet t && nft add chain inet t o '{ type filter hook output priority 0; }' && "
          + "nft add rule inet t o udp dport 4440 reject",
        words: "are not sent: this host itself reports: port unreachable")
    ].filter { _ in Surroundings.program("nft") != nil }
  }

  @Test(
    "when a host is good or broken in one way, then doctor says what record does there",
    arguments: Host.all + Host.rejecting)
  func hosts(_ host: Host) async throws {
    var roads = try await Roads()
    for (name, net, metric) in [("wl1", 1, 10), ("wl2", 2, 20)] {
      try await roads.probe.connect(name, to: roads.far, net: net)
      try await roads.probe.run("ip route add \(Roads.server) via 10.\(net).0.1 dev \(name) metric \(metric)")
    }
    try await roads.open(settings: host.settings)
    try await roads.probe.run(host.script)
    let (report, status, isMeasured) = try await DoctorReport.besideDrive { [roads] in
      try roads.start($0[0], Array($0.dropFirst()), environment: ["COVERAGE_PROBE_CONTROL_SERVER_URL": host.url])
    }
    #expect(
      report.ready == host.isReady && isMeasured == host.isReady && status == (host.isReady ? 0 : 1), "\(report.wrong)")
    guard let words = host.words else {
      #expect(report.wrong.isEmpty)
      return
    }
    let finding = try #require(report.wrong.first { $0.text.contains(words) }, "\(report.wrong)")
    #expect(finding.grade == (host.isReady ? "warning" : "fault") && finding.advice != nil)
    #expect(finding.advice?.contains("firewall") != true || words == "not sent")
  }
}

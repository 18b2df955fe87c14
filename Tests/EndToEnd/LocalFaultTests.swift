import Foundation
import TestSupport
import Testing

/// Faults of the probe's own host and network: none may become a dead zone at the control server.
@Suite(
  .serialized,
  .enabled(if: Surroundings.mayMakeNetworks, "networks of its own need CAP_SYS_ADMIN, CAP_NET_ADMIN, ip and nsenter"))
struct LocalFaultTests {
  private static let modem = """
    mountpoint -q /sys/class/net || mount -t tmpfs none /sys/class/net
    mkdir -p /sys/class/net/wwan0
    ip -o link show wwan0 | cut -d: -f1 >/sys/class/net/wwan0/ifindex
    echo DEVTYPE=wwan >/sys/class/net/wwan0/uevent
    """

  /// A drive by a modem.
  private func drive(_ prepare: (Roads) async throws -> Void = { _ in }) async throws -> Roads {
    var roads = try await Roads()
    try await roads.probe.connect("wwan0", to: roads.far, net: 1, preparing: Self.modem)
    try await roads.probe.run("ip route add \(Roads.server) via 10.1.0.1")
    try await prepare(roads)
    try await roads.open(
      settings: "network: { source: auto }\nlocation: { minimum-radius: 15 }\npings: { timeout: 300ms }")
    return roads
  }

  private func unsent(_ event: LoggedEvent) -> Bool {
    (event.members["ping"] as? [String: Any])?["error"] as? String == "unsent"
  }

  /// The fences of the drive that have no answered ping, and those that the server has, by test and offset.
  private func fences(_ roads: Roads) async throws -> (silent: [[String: Any]], sent: [String]) {
    let all = try await roads.lines("export", ["--format", "jsonl", "--state", "all"])
    return (all.filter { $0["pings_ok"] as? Int == 0 }, try await roads.fencesAtServer())
  }

  @Test(
    "when the host's firewall stops the pings, then their fences are kept and never sent, and every output names the cause",
    .enabled(if: Surroundings.program("nft") != nil, "needs nft"))
  func firewall() async throws {
    let roads = try await drive()
    let record = try roads.start("record")
    try await roads.wait(for: 10, "answered pings") { $0.isAnswer }
    try await roads.probe.run(
      "nft add table inet t && nft add chain inet t o '{ type filter hook output priority 0; }' && "
        + "nft add rule inet t o udp dport 4440 drop")
    let stopped = try await roads.wait(for: 100, "pings that are not sent") { unsent($0) }
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")

    #expect(try !roads.events().contains { $0.at > stopped - 5 && $0.isNotSent && !unsent($0) })
    let (silent, sent) = try await fences(roads)
    let unmeasured = silent.filter { ($0["pings_unsent"] as? Int ?? 0) > 0 && $0["pings"] as? Int == 0 }
    #expect(unmeasured.count >= 2, "\(silent)")
    for fence in unmeasured {
      #expect(fence["submittable"] as? Bool == false)
      #expect(!sent.contains("\(fence["test_uuid"] ?? "-") \(fence["offset_ms"] ?? "-")"))
    }
    #expect(!sent.isEmpty)
    #expect(record.standardError.contains("pings are not sent, and count as not measured: the host's firewall"))
    #expect(record.standardOutput.contains("could not be sent, neither answered nor lost: the host's firewall"))
    let replayed = try await roads.replayed()
    #expect(replayed.filter { $0["submittable"] as? Bool == false }.count >= unmeasured.count)
  }

  @Test("when the modem's link goes down, then its lost pings still make a dead zone that the server gets")
  func deadZone() async throws {
    let roads = try await drive()
    let record = try roads.start("record")
    try await roads.wait(for: 10, "answered pings") { $0.isAnswer }
    try await roads.probe.run("ip link set wwan0 down")
    let gone = try await roads.wait(for: 1, "no path") { $0.path == "none" }
    try await roads.wait(for: 100, "pings that are lost", after: gone) { $0.isNotSent && !unsent($0) }
    try await roads.probe.run("ip link set wwan0 up && ip route add \(Roads.server) via 10.1.0.1")
    try await roads.wait(for: 10, "answered pings", after: gone + 10) { $0.isAnswer }
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")
    let (silent, sent) = try await fences(roads)
    let dead = silent.filter { ($0["pings"] as? Int ?? 0) > 0 && $0["submittable"] as? Bool == true }
    #expect(dead.count >= 2, "\(silent)")
    for fence in dead { #expect(sent.contains("\(fence["test_uuid"] ?? "-") \(fence["offset_ms"] ?? "-")")) }
  }

  @Test("when the modem's interface is removed, as by a reset, then its fences are not measured")
  func removed() async throws {
    let roads = try await drive()
    let record = try roads.start("record")
    try await roads.wait(for: 10, "answered pings") { $0.isAnswer }
    try await roads.probe.run("ip link delete wwan0")
    let gone = try await roads.wait(for: 1, "no path") { $0.path == "none" }
    try await roads.wait(for: 100, "pings that are not sent", after: gone) { unsent($0) }
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 75, "the network is gone: \(record.standardError)")
    let silent = try await roads.lines("export", ["--format", "jsonl", "--state", "all"]).filter {
      $0["pings_ok"] as? Int == 0
    }
    #expect(silent.count >= 2 && silent.allSatisfy { $0["submittable"] as? Bool == false }, "\(silent)")
    #expect(record.standardError.contains("none, the interface wwan0 was removed"))
  }

  /// A network with IPv6 only: the control server at fd00::1 names an IPv4 address for pings.
  private func ipv6Only(hosts: String) async throws -> Roads {
    var roads = try await Roads()
    try await roads.probe.connect("wwan0", to: roads.far, net: 1, preparing: Self.modem)
    try await roads.far.run(
      """
      sysctl -qw net.ipv6.conf.all.disable_ipv6=0
      for address in fd00::1 64:ff9b::10.9.0.1; do ip address add $address/128 dev lo nodad; done
      ip address add fd01::1/64 dev far-wwan0 nodad
      """)
    let file = try roads.folder.write("127.0.0.1 localhost\n\(hosts)\n", to: "hosts")
    try await roads.probe.run(
      """
      sysctl -qw net.ipv6.conf.all.disable_ipv6=0
      ip address flush dev wwan0 scope global
      ip address add fd01::2/64 dev wwan0 nodad
      ip route add default via fd01::1
      mount --bind \(file) /etc/hosts
      """)
    try await roads.openIPv6(settings: "network: { source: auto }\nlocation: { minimum-radius: 15 }")
    return roads
  }

  @Test("when the network has IPv6 and NAT64 only, then an IPv4 ping server is pinged by a synthesized address")
  func nat64() async throws {
    let roads = try await ipv6Only(hosts: "64:ff9b::192.0.0.170 ipv4only.arpa")
    let record = try roads.start("record")
    try await roads.wait(for: 20, "answered pings") { $0.isAnswer }
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")
    #expect(record.standardError.contains("pinging [64:ff9b::a09:1]:4440"), "\(record.standardError)")
  }

  @Test(
    "when the network has IPv6 only and no NAT64, then nothing is measured or sent, and the last line has the reason")
  func noNAT64() async throws {
    let roads = try await ipv6Only(hosts: "")
    let record = try roads.start("record")
    try await roads.wait(for: 30, "positions") { $0.isFix }
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 69, "\(record.standardError)")
    // No name server answers here.
    let reason =
      "10.9.0.1 is an IPv4 address, and this network has IPv6 only; whether it has NAT64 is not known: "
      + "cannot find the address of ipv4only.arpa: Temporary failure in name resolution"
    #expect(
      record.standardOutput.split(separator: "\n").last?.hasSuffix("no ping was sent: \(reason)") == true,
      "\(record.standardOutput)")
    let (silent, sent) = try await fences(roads)
    #expect(!silent.isEmpty && sent.isEmpty)
    #expect(silent.allSatisfy { $0["submittable"] as? Bool == false }, "\(silent)")
    let doctor = try roads.start("doctor")
    _ = try await doctor.exitStatus()
    #expect(
      doctor.standardOutput.contains("fault   pings         no ping to 10.9.0.1, port 4440: \(reason)"),
      "\(doctor.standardOutput)")
  }
}

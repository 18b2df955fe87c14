import Foundation
import OrderedJSON
import TestSupport
import Testing

@testable import SpeedTest

/// Traceroutes through routers in the test's own networks.
@Suite(
  .serialized,
  .enabled(if: Surroundings.mayMakeNetworks, "networks of its own need CAP_SYS_ADMIN, CAP_NET_ADMIN, ip and nsenter"))
struct TracerouteSlowTests {
  /// client 10.1.0.2 - 10.1.0.1 first - 10.2.0.1 second - 10.3.0.2 server
  private struct Way {
    let client: NetworkNamespace
    let routers: [NetworkNamespace]
    let server: NetworkNamespace

    init() async throws {
      client = try await NetworkNamespace()
      routers = [try await NetworkNamespace(), try await NetworkNamespace()]
      server = try await NetworkNamespace()
      try await client.connect("v1", to: routers[0], net: 1)
      try await routers[0].connect("v2", to: routers[1], net: 2)
      try await server.connect("v3", to: routers[1], net: 3)
      let forwarding = "sysctl -qw net.ipv4.ip_forward=1 net.ipv4.icmp_ratemask=0 net.ipv4.icmp_msgs_per_sec=100000"
      try await client.run("ip route add default via 10.1.0.1")
      try await routers[0].run("\(forwarding); ip route add default via 10.2.0.1; ip route add unreachable 10.9.1.0/24")
      try await routers[1].run(
        "\(forwarding); ip route add 10.1.0.0/24 via 10.2.0.2; ip route add blackhole 10.9.2.0/24")
      try await server.run("sysctl -qw net.ipv4.icmp_ratemask=0; ip route add default via 10.3.0.1")
    }

    /// The result of a test in the client's network: its status, and its hops, with silent ones as `*`.
    ///
    /// The test runs in its own process: threads that start in another network stay there, and some of them later serve other
    /// tests.
    func trace(
      _ host: String, hops: Int = 8, mayUseICMP: Bool = true, interface: String? = nil
    ) async throws -> Trace {
      let network = "/proc/\(client.pid)/ns/net"
      let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
        [
          network = network as String, host = host as String, hops = hops as Int, isICMP = mayUseICMP as Bool,
          interface = interface as String?
        ] in
        try Self.enter(network)
        let test = TracerouteTest(
          QoSParameters(["host": host, "max_hops": "\(hops)", "timeout": "20000000000"]), mayUseICMP: isICMP)
        var context = try LoopbackPort.context(seconds: 40)
        context.interface = interface
        let path = try test.measure(context)
        try FileHandle.standardOutput.write(contentsOf: Data("\n\(JSON.object(test.members(path)).text)\n".utf8))
      }
      let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
      let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("{\"traceroute_") })
      return try JSONDecoder().decode(Trace.self, from: Data(line.utf8))
    }

    /// Moves this thread, and those that it starts, to a network: setns(2), which Swift's Glibc does not declare.
    private static func enter(_ network: String) throws {
      typealias Function = @convention(c) (Int32, Int32) -> Int32
      let symbol = try #require(dlsym(nil, "setns"))
      let file = try FileHandle(forReadingFrom: URL(filePath: network))
      guard unsafeBitCast(symbol, to: Function.self)(file.fileDescriptor, 0) == 0 else {
        throw ScriptFailure(description: "setns: \(String(cString: strerror(errno)))")
      }
    }
  }

  private struct Trace: Decodable {
    struct Hop: Decodable {
      let host: String
      let time: Int64?
    }

    let traceroute_result_status: String
    let traceroute_result_details: [Hop]

    var status: String { traceroute_result_status }
    var hosts: [String] { traceroute_result_details.map(\.host) }
  }

  @Test("When a host is two routers away, then its path has three hops, by ICMP and by UDP", arguments: [true, false])
  func threeHops(byICMP: Bool) async throws {
    let way = try await Way()
    let path = try await way.trace("10.3.0.2", mayUseICMP: byICMP)
    #expect(path.status == "OK")
    #expect(path.hosts == ["10.1.0.1", "10.2.0.1", "10.3.0.2"])
    #expect(path.traceroute_result_details.allSatisfy { ($0.time ?? 0) > 0 })
  }

  @Test(
    "When the test is bound to an interface, then its packets leave by that interface, against the routes",
    arguments: [true, false])
  func bound(byICMP: Bool) async throws {
    let (way, other) = (try await Way(), try await NetworkNamespace())
    // The same address as the server's, a hop away by another link.
    try await way.client.connect("v9", to: other, net: 9)
    try await other.run("ip address add 10.3.0.2/32 dev far-v9; ip route add 10.0.0.0/8 dev far-v9")
    #expect(try await way.trace("10.3.0.2", mayUseICMP: byICMP).hosts.count == 3)
    #expect(try await way.trace("10.3.0.2", mayUseICMP: byICMP, interface: "v9").hosts == ["10.3.0.2"])
  }

  @Test("When a router has no route to the host, then its report is the last hop, and the status is ERROR")
  func unreachable() async throws {
    let path = try await Way().trace("10.9.1.5")
    #expect(path.status == "ERROR")
    #expect(path.hosts.last == "10.1.0.1")
  }

  @Test(
    "When the second router drops packets silently, then the hops are those that replied, and the status is the hop limit"
  )
  func vanished() async throws {
    let path = try await Way().trace("10.9.2.5", hops: 5)
    #expect(path.status == "MAX_HOPS_EXCEEDED")
    #expect(path.hosts == ["10.1.0.1"])
  }

  @Test("When the hop limit ends before the host, then the status says so")
  func tooFar() async throws {
    let path = try await Way().trace("10.3.0.2", hops: 2)
    #expect(path.status == "MAX_HOPS_EXCEEDED")
    #expect(path.hosts == ["10.1.0.1", "10.2.0.1"])
  }

  @Test("When a router reports nothing, then its hop is silent, and the other hops are listed")
  func silentRouter() async throws {
    let way = try await Way()
    // It forwards packets, and drops its own reports.
    try await way.routers[0].run("ip route add blackhole default table 8; ip rule add iif lo table 8 priority 5")
    let path = try await way.trace("10.3.0.2")
    #expect(path.status == "OK")
    #expect(path.hosts == ["*", "10.2.0.1", "10.3.0.2"])
  }
}

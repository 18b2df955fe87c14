import Foundation
import TestSupport
import Testing

/// A fault between a sending service and its control server, and its repair.
struct NetworkFault: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The number of waiting drives, and of fences in each.
  var drives = 6
  var fences = 3
  /// The server's name in the URL.
  var host = Outpost.server
  var isSecure = false
  /// Makes the fault, and waits until the service has met it.
  let strike: @Sendable (Outpost) async throws -> Void
  let heal: @Sendable (Outpost) async throws -> Void

  private static let linkDown = "ip link set \(Outpost.link) down"
  /// The route disappears with the link.
  private static let linkUp = "ip link set \(Outpost.link) up && ip route add \(Outpost.server) via 10.1.0.1"
  /// A server that accepts two batches of fences and then hangs, so that the fault comes in mid-pass even on a busy machine.
  private static let hanging = ["coverageResult:none:2", "coverageResult:hang:60"]
  /// A request that does not fit into a few packets.
  private static let large = (drives: 1, fences: 400)

  static let all: [NetworkFault] = [
    NetworkFault(testDescription: "link down before the first connection") { outpost in
      try await outpost.probe.run(linkDown)
      try await outpost.startServer()
      try outpost.startService()
      try await outpost.waitForTrouble()
    } heal: { outpost in
      try await outpost.probe.run(linkUp)
    },
    NetworkFault(testDescription: "link down while the server works, which completes the request") { outpost in
      try await outpost.startServer(["coverageResult:none:1", "coverageResult:late:1.5"])
      try outpost.startService()
      // The next request, which follows at once, is the slow one.
      try await outpost.waitForRequests(2, to: "coverageRequest")
      try await outpost.probe.run(linkDown)
      try await outpost.waitForTrouble()
    } heal: { outpost in
      try await outpost.clearFaults()
      try await outpost.probe.run(linkUp)
    },
    NetworkFault(testDescription: "link down between the commit and the answer") { outpost in
      try await outpost.startServer(["coverageResult:none:1", "coverageResult:slow:60"])
      try outpost.startService()
      try await outpost.waitForRequests(2, to: "coverageResult")
      try await outpost.probe.run(linkDown)
      try await outpost.waitForTrouble()
    } heal: { outpost in
      try await outpost.clearFaults()
      try await outpost.probe.run(linkUp)
    },
    NetworkFault(testDescription: "resets in place of answers") { outpost in
      try await outpost.startServer(["coverageResult:none:1", "coverageResult:reset"])
      try outpost.startService()
      try await outpost.waitForTrouble(2)
    } heal: { outpost in
      try await outpost.clearFaults()
    },
    NetworkFault(testDescription: "black hole in mid-pass") { outpost in
      try await outpost.startServer(hanging)
      try outpost.startService()
      try await outpost.waitForRequests(3, to: "coverageResult")
      // No host at the other end of the cable has that address.
      try await outpost.probe.run(
        "ip neigh replace 10.1.0.1 lladdr 02:00:00:00:00:01 nud permanent dev \(Outpost.link)")
      try await outpost.waitForTrouble(2)
    } heal: { outpost in
      try await outpost.clearFaults()
      try await outpost.probe.run("ip neigh del 10.1.0.1 dev \(Outpost.link)")
    },
    NetworkFault(testDescription: "name without an address", host: "server.test") { outpost in
      let (hosts, servers) = (
        try outpost.folder.write("127.0.0.1 localhost\n", to: "hosts"),
        try outpost.folder.write("nameserver 127.0.0.1\n", to: "resolv.conf")
      )
      try await outpost.probe.run("mount --bind \(hosts) /etc/hosts && mount --bind \(servers) /etc/resolv.conf")
      try await outpost.startServer()
      try outpost.startService()
      try await outpost.waitForTrouble()
    } heal: { outpost in
      try await outpost.probe.run("echo \(Outpost.server) server.test >>/etc/hosts")
    },
    NetworkFault(testDescription: "untrusted certificate", isSecure: true) { outpost in
      for name in ["authority", "stranger"] { try await outpost.makeCertificate(name) }
      try await outpost.startServer(options: outpost.certificate("stranger"))
      try outpost.startService()
      try await outpost.waitForTrouble()
    } heal: { outpost in
      try await outpost.killServer()
      try await outpost.startServer(options: outpost.certificate("authority"))
    },
    NetworkFault(testDescription: "captive portal that redirects, and then serves its own page") { outpost in
      try await outpost.startServer()
      try await outpost.connectImpostor(["*:redirect:http://portal.test/login:1", "*:html"])
      try outpost.startService()
      try await outpost.waitForTrouble(2)
    } heal: { outpost in
      try await outpost.probe.run("ip route replace \(Outpost.server) via 10.1.0.1")
    },
    NetworkFault(testDescription: "server killed in mid-pass") { outpost in
      try await outpost.startServer(hanging)
      try outpost.startService()
      try await outpost.waitForRequests(3, to: "coverageResult")
      try await outpost.killServer()
      try await outpost.waitForTrouble()
    } heal: { outpost in
      try await outpost.startServer()
    },
    NetworkFault(
      testDescription: "black hole for large packets", drives: large.drives, fences: large.fences
    ) { outpost in
      // Without segmentation by the kernel the packets are as large as on a real link; without advmss the server would request
      // small ones.
      try await outpost.probe.run("ip link set \(Outpost.link) gso_max_segs 1")
      try await outpost.far.run(
        """
        ip link set far-\(Outpost.link) mtu 1280
        ip route replace 10.1.0.0/24 dev far-\(Outpost.link) advmss 1460
        """)
      try await outpost.startServer()
      try outpost.startService()
      try await outpost.waitForTrouble()
    } heal: { outpost in
      try await outpost.far.run("ip link set far-\(Outpost.link) mtu 1500")
    },
    NetworkFault(
      testDescription: "link that slows to a trickle", drives: large.drives, fences: large.fences
    ) { outpost in
      try await outpost.probe.run("tc qdisc add dev \(Outpost.link) root tbf rate 64kbit burst 1600 limit 6000")
      try await outpost.startServer()
      try outpost.startService()
      try await outpost.waitForTrouble()
    } heal: { outpost in
      try await outpost.probe.run("tc qdisc del dev \(Outpost.link) root")
    },
    NetworkFault(testDescription: "reboot at the far end, which leaves connections half open") { outpost in
      try await outpost.startServer(["coverageResult:none:1", "coverageResult:503:1"])
      try outpost.startService()
      // The service keeps the connection for the next pass.
      try await outpost.waitForTrouble()
      try await outpost.loseFarEnd()
    } heal: { outpost in
      try await outpost.rebootFarEnd()
    },
  ]
}

extension Outpost {
  /// Makes a self-signed `NAME.pem` and its key.
  func makeCertificate(_ name: String) async throws {
    let openssl = try #require(Surroundings.program("openssl"))
    let making = try RunningProgram(
      openssl,
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-keyout", folder.file("\(name)-key.pem"), "-out", folder.file("\(name).pem"), "-days", "2",
        "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:\(Self.server)",
      ])
    try #require(try await making.exitStatus() == 0, "\(making.standardError)")
  }

  func certificate(_ name: String) -> [String] {
    ["--certificate", folder.file("\(name).pem"), "--key", folder.file("\(name)-key.pem")]
  }
}

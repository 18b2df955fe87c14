import Foundation
import OrderedJSON
import TestSupport
import Testing

@testable import SpeedTest

/// Whole runs of QoS tests against the real tools/measurement-server on loopback. Edges are those of
/// docs/protocol.md, 9.
@Suite(.serialized) struct QoSServerSlowTests {
  @Test("When a group has all tests that need a server, then each has its full result")
  func allAtOnce() async throws {
    let lab = try await QoSLab()
    let ports = try (0..<4).map { _ in try LoopbackPort.free() }
    let outcome = await QoSRun(
      try lab.plan([
        ("tcp", ["out_port": "\(ports[0])"]), ("tcp", ["in_port": "\(ports[1])"]),
        ("udp", ["out_port": "\(lab.udpPorts[1])", "out_num_packets": "6", "delay": "50000000"]),
        ("udp", ["in_port": "\(ports[2])", "in_num_packets": "6", "delay": "50000000"]), lab.call(),
        ("non_transparent_proxy", ["port": "\(ports[3])", "request": "GET / HTTR/7.9"]),
      ])
    ).run()
    #expect(outcome.results.map(\.status) == Array(repeating: .ok, count: 6))
    #expect(outcome.value(1, "tcp_result_out_response") == "PING")
    #expect(outcome.value(2, "tcp_result_in_response") == .string("HELLO TO \(ports[1])"))
    for (uid, way) in [(Int64(3), "out"), (4, "in")] {
      #expect(outcome.number(uid, "udp_result_\(way)_num_packets") == 6)
      #expect(outcome.number(uid, "udp_result_\(way)_response_num_packets") == 6)
      #expect(outcome.value(uid, "udp_result_\(way)_packet_loss_rate") == "0")
      #expect((1...2_000_000_000).contains(try #require(outcome.number(uid, "udp_result_\(way)_rtt_avg_ns"))))
    }
    for way in ["out", "in"] {
      #expect(outcome.number(5, "voip_result_\(way)_num_packets") == 25)
      #expect(outcome.number(5, "voip_result_\(way)_sequence_error") == 0)
      #expect(outcome.number(5, "voip_result_\(way)_long_seq") == 25)
      let (mean, most) = (
        outcome.number(5, "voip_result_\(way)_mean_jitter"), outcome.number(5, "voip_result_\(way)_max_jitter")
      )
      #expect(try #require(mean) <= #require(most))
    }
    #expect(outcome.value(6, "nontransproxy_result_response") == "GET / HTTR/7.9")
    #expect(outcome.results.allSatisfy { $0.start >= 0 && $0.duration > 0 })
  }

  @Test(
    "Edge 46: when several groups use a server, then they share one connection, whose idle time is raised first, and QUIT ends it"
  )
  func oneConnection() async throws {
    let lab = try await QoSLab()
    let ports = try (0..<3).map { _ in try LoopbackPort.free() }
    let outcome = await QoSRun(
      try lab.plan(
        ports.enumerated().map { ("tcp", ["out_port": "\($0.element)", "concurrency_group": "\($0.offset / 2)"]) })
    ).run()
    #expect(outcome.results.map(\.status) == [.ok, .ok, .ok])
    let commands = try await eventually("QUIT") { lab.commands.last == "1: QUIT" ? lab.commands : nil }
    #expect(commands.allSatisfy { $0.hasPrefix("1: ") })
    #expect(commands.first == "1: REQUEST CONN TIMEOUT 15000 +ID1")
    #expect(commands.filter { $0.contains("TCPTEST OUT") }.count == 3)
  }

  @Test("When tests have groups, then a group begins when the one before has ended")
  func groups() async throws {
    let lab = try await QoSLab()
    let port = try LoopbackPort.free()
    let outcome = await QoSRun(
      try lab.plan([
        ("tcp", ["out_port": "\(port)", "concurrency_group": "300"]),
        (
          "udp",
          ["out_port": "\(lab.udpPorts[0])", "out_num_packets": "5", "delay": "100000000", "concurrency_group": "200"]
        ),
      ])
    ).run()
    let (later, earlier) = (outcome.results[1], outcome.results[0])
    #expect(earlier.kind == .udp && later.kind == .tcp)
    #expect(later.start >= earlier.start + earlier.duration)
  }

  @Test(
    "Edge 44: when the control connection has an address of its own, then UDP comes from it: otherwise it would have no answer"
  )
  func sameAddress() async throws {
    let lab = try await QoSLab()
    let plan = try lab.plan([
      ("udp", ["out_port": "\(lab.udpPorts[0])", "out_num_packets": "3", "delay": "20000000"]),
      ("udp", ["in_num_packets": "3"]), lab.call(),
    ])
    let outcome = await QoSRun(plan, source: LoopbackPort.address(0, host: 0x7F00_0009)).run()
    #expect(outcome.results.map(\.status) == [.ok, .ok, .ok])
    #expect(outcome.number(1, "udp_result_out_num_packets") == 3)
    #expect(outcome.number(2, "udp_result_in_num_packets") == 3)
    #expect(outcome.number(3, "voip_result_in_num_packets") == 25)
  }

  @Test("Edge 43: when a call goes to a port that is not for calls, then it is an ERROR without figures")
  func callToOtherPort() async throws {
    let lab = try await QoSLab()
    let outcome = await QoSRun(try lab.plan([lab.call(["out_port": "\(try LoopbackPort.free())"])])).run()
    #expect(outcome.results.map(\.status) == [.error])
    #expect(outcome.value(1, "voip_result_status") == "ERROR")
    #expect(outcome.number(1, "voip_result_in_num_packets") == nil)
  }

  @Test("Edge 43: when a call runs, then it is ordered with its parameters, and its result is requested")
  func sourceOfCall() async throws {
    let lab = try await QoSLab()
    let outcome = await QoSRun(try lab.plan([lab.call()])).run()
    #expect(outcome.results.map(\.status) == [.ok])
    #expect(lab.commands.contains { $0.contains("GET VOIPRESULT ") })
    #expect(lab.commands.contains { $0.contains(" 8000 8 20 500 ") })
  }

  @Test("When an objective names no UDP port, then the server is asked for one")
  func serverNamesPort() async throws {
    let lab = try await QoSLab()
    let outcome = await QoSRun(try lab.plan([("udp", ["out_num_packets": "3", "delay": "20000000"])])).run()
    #expect(outcome.results.map(\.status) == [.ok])
    #expect(outcome.number(1, "udp_result_out_num_packets") == 3)
    #expect(lab.commands.contains { $0.contains("GET UDPPORT") })
  }

  @Test("When a run is aborted, then it ends at once, and each test has a result")
  func abort() async throws {
    let lab = try await QoSLab()
    let run = QoSRun(
      try lab.plan([
        ("tcp", ["out_port": "\(try LoopbackPort.free())"]),
        lab.call(["call_duration": "20000000000"]),
        ("dns", ["host": "a.example", "concurrency_group": "200"]),
      ]))
    let start = ProgressWatch()
    let aborting = Task {
      _ = try await eventually("the call") { lab.commands.contains { $0.contains("VOIPTEST") } ? true : nil }
      run.abort()
    }
    let outcome = await run.run()
    try await aborting.value
    #expect(outcome.results.count == 3 && outcome.results.dropFirst().map(\.status) == [.error, .error])
    #expect(start.passed < .seconds(10))
  }

  @Test("When the time of all tests is over, then unfinished tests are TIMEOUT")
  func wholeTime() async throws {
    let lab = try await QoSLab()
    var plan = try lab.plan([
      lab.call(["call_duration": "20000000000"]), ("udp", ["out_num_packets": "100", "delay": "100000000"]),
      ("udp", ["in_num_packets": "100"]),
      ("tcp", ["out_port": "\(try LoopbackPort.free())", "concurrency_group": "200"]),
    ])
    plan.seconds = 1
    let start = ProgressWatch()
    let outcome = await QoSRun(plan).run()
    #expect(outcome.results.map(\.status) == [.timeout, .timeout, .timeout, .timeout])
    #expect(start.passed < .seconds(10))
  }

  @Test("When tokens are checked, then only version 1 with milliseconds is accepted, as by today's servers")
  func tokens() async throws {
    let lab = try await QoSLab(["--secret", "lab", "--qos-check-tokens"])
    let seconds = Int64(Date().timeIntervalSince1970)
    let uuid = "3b1f27a0-cbb0-4054-b967-070f8045f891"
    func status(_ token: String) async throws -> [QoSStatus] {
      let plan = try lab.plan([("tcp", ["out_port": "\(try LoopbackPort.free())"])], token: token)
      return await QoSRun(plan).run().results.map(\.status)
    }
    let good = LabToken.version1(secret: "lab", uuid: uuid, unixSeconds: seconds * 1000)
    #expect(try await status(good) == [.ok])
    #expect(try await status(good + "_#v2#AAAA") == [.error])
    #expect(try await status(LabToken.version1(secret: "lab", uuid: uuid, unixSeconds: seconds)) == [.error])
    #expect(try await status(LabToken.version1(secret: "other", uuid: uuid, unixSeconds: seconds * 1000)) == [.error])
  }

  @Test(
    "When the server has TLS, then tests run, and an unknown certificate is refused unless verification is off",
    .enabled(if: TestCertificates.canBeMade, "openssl is not installed"))
  func tls() async throws {
    let certificates = try await TestCertificates.shared.value
    let lab = try await QoSLab(certificates.options("address"))
    #expect(
      await QoSRun(try lab.plan([("tcp", ["out_port": "\(try LoopbackPort.free())"])])).run().results.map(\.status)
        != [.ok], "the server has TLS only")
    var plan = try lab.plan([
      ("tcp", ["out_port": "\(try LoopbackPort.free())"]), ("udp", ["out_num_packets": "5", "delay": "20000000"]),
      lab.call(),
    ])
    plan.encryption = .always
    #expect(await QoSRun(plan).run().results.map(\.status) == [.error, .error, .error])
    plan.access.caFile = certificates.authority
    #expect(await QoSRun(plan).run().results.map(\.status) == [.ok, .ok, .ok])
    plan.encryption = .auto
    #expect(await QoSRun(plan).run().results.map(\.status) == [.ok, .ok, .ok])
    (plan.access.caFile, plan.access.verifiesCertificate) = (nil, false)
    #expect(await QoSRun(plan).run().results.map(\.status) == [.ok, .ok, .ok])
  }

  @Test(
    "When the server has no TLS, then automatic encryption tries again without it, and forced encryption makes tests ERROR"
  )
  func plainServer() async throws {
    let lab = try await QoSLab()
    var plan = try lab.plan([("tcp", ["out_port": "\(try LoopbackPort.free())"]), lab.call()])
    plan.encryption = .always
    #expect(await QoSRun(plan).run().results.map(\.status) == [.error, .error])
    plan.encryption = .auto
    #expect(await QoSRun(plan).run().results.map(\.status) == [.ok, .ok])
  }

  @Test("When tests run, then their bytes are counted in both directions, datagrams with the headers of IP and UDP")
  func traffic() async throws {
    let lab = try await QoSLab()
    let udp = ("udp", ["out_port": "\(lab.udpPorts[1])", "out_num_packets": "6", "delay": "20000000"])
    let run = QoSRun(try lab.plan([udp, lab.call()]))
    let outcome = await run.run()
    #expect(outcome.results.map(\.status) == [.ok, .ok])
    // 6 packets of 46 bytes, and 25 of 12 and 160; the control connection's lines are the rest.
    let datagrams: Int64 = 6 * (46 + 28) + 25 * (172 + 28)
    #expect((datagrams + 100...datagrams + 2000).contains(outcome.traffic.sent))
    #expect((datagrams + 100...datagrams + 2000).contains(outcome.traffic.received))
    #expect(run.traffic.total >= outcome.traffic.total)
  }

  /// A control connection to the lab, without the request that runs send first.
  private func connect(_ lab: QoSLab) throws -> QTPConnection {
    let waiting = LoopbackPort.waiting(seconds: 60)
    let socket = try Dialer(waiting: waiting).connect(LoopbackPort.address(lab.port))
    return try QTPConnection(socket, token: try MeasurementToken(QoSLab.token), waiting: waiting)
  }

  private func reply(_ connection: QTPConnection, _ command: QTPCommand) throws -> String {
    try connection.request(command, until: LoopbackPort.now() + 20_000_000_000)
  }

  @Test("Edge 46: when a connection is idle for 15 s, then the server closes it, unless a longer time was requested")
  func idle() async throws {
    let lab = try await QoSLab()
    let (short, long) = (try connect(lab), try connect(lab))
    #expect(try reply(long, .connectionTimeout(60_000)) == "OK")
    let start = ContinuousClock.now
    _ = try await eventually("the end of the idle connection") { short.isOpen ? nil : true }
    #expect(ContinuousClock.now - start > .seconds(12))
    #expect(try reply(long, .udpPort) != "")
    long.close()
  }

  @Test("When values are beyond the server's limits, then it names them, and the connection stays open")
  func limits() async throws {
    let lab = try await QoSLab()
    let connection = try connect(lab)
    #expect(try reply(connection, .connectionTimeout(14_999)) == "ERR ILLARG 14999")
    #expect(try reply(connection, .tcpOut(port: 80)) == "ERR ILLARG 80")
    #expect(try reply(connection, .udpOut(port: 5000, packets: 1001)) == "ERR ILLARG 1001")
    #expect(try reply(connection, .voipResult(source: "7")) == "ERR ILLARG 7")
    #expect(lab.udpPorts.contains(try #require(UInt16(try reply(connection, .udpPort)))))
    // Twenty ports a connection.
    var replies: [String] = []
    for _ in 0..<21 { replies.append(try reply(connection, .tcpOut(port: try LoopbackPort.free()))) }
    #expect(replies == Array(repeating: "OK", count: 20) + ["ERR"])
    connection.close()
  }

  @Test(
    "When one objective has both directions, then both have their result, and one that fails does not affect the other")
  func bothDirections() async throws {
    let lab = try await QoSLab()
    let taken = try LineListener(on: LoopbackPort.address(0))
    let outcome = await QoSRun(
      try lab.plan([
        ("tcp", ["out_port": "\(try LoopbackPort.free())", "in_port": "\(try LoopbackPort.free())"]),
        ("tcp", ["out_port": "\(try LoopbackPort.free())", "in_port": "\(taken.port)"]),
        ("udp", ["out_num_packets": "2", "in_num_packets": "2", "in_port": "1", "delay": "20000000"]),
        ("udp", ["out_num_packets": "2", "in_num_packets": "2", "delay": "20000000"]),
      ])
    ).run()
    #expect(outcome.value(1, "tcp_result_out") == "OK" && outcome.value(1, "tcp_result_in") == "OK")
    #expect(outcome.value(2, "tcp_result_out") == "OK" && outcome.value(2, "tcp_result_in") == "ERROR")
    // The server refuses ports below 1024, and so sends nothing.
    #expect(outcome.number(3, "udp_result_out_num_packets") == 2)
    #expect(outcome.value(3, "udp_result_in_packet_loss_rate") == "100")
    #expect(outcome.number(4, "udp_result_out_num_packets") == 2 && outcome.number(4, "udp_result_in_num_packets") == 2)
  }
}

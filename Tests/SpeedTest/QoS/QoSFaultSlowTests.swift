import Foundation
import OrderedJSON
import TestSupport
import Testing

@testable import SpeedTest

/// Runs of QoS tests against tools/measurement-server with its faults.
@Suite(.serialized) struct QoSFaultSlowTests {
  @Test("When half of the UDP packets are lost, then the figures show it in each direction")
  func loss() async throws {
    let lab = try await QoSLab(["--fault", "udp-drop=50"])
    let outcome = await QoSRun(
      try lab.plan([
        (
          "udp",
          ["out_port": "\(lab.udpPorts[1])", "out_num_packets": "10", "delay": "20000000", "concurrency_group": "1"]
        ),
        ("udp", ["in_num_packets": "10", "concurrency_group": "2"]),
        lab.call(["concurrency_group": "3"]),
      ])
    ).run()
    #expect(outcome.number(1, "udp_result_out_num_packets") == 5)
    #expect(outcome.value(1, "udp_result_out_packet_loss_rate") == "50")
    #expect(outcome.number(1, "udp_result_out_response_num_packets") == 5)
    #expect(outcome.number(2, "udp_result_in_num_packets") == 5)
    #expect(outcome.value(2, "udp_result_in_packet_loss_rate") == "50")
    // Of five answers, the server drops two or three.
    #expect((2...3).contains(try #require(outcome.number(2, "udp_result_in_response_num_packets"))))
    // Every second packet of 25 is lost: no packet that comes is at its place, except perhaps the first.
    for way in ["out", "in"] {
      #expect((12...13).contains(try #require(outcome.number(3, "voip_result_\(way)_num_packets"))))
      #expect((11...13).contains(try #require(outcome.number(3, "voip_result_\(way)_sequence_error"))))
      #expect((0...1).contains(try #require(outcome.number(3, "voip_result_\(way)_long_seq"))))
    }
  }

  @Test("When an objective has 300 packets and no delay, then all leave within its timeout, and none counts as lost")
  func many() async throws {
    let lab = try await QoSLab()
    let began = ProgressWatch()
    let objective = ["out_port": "\(lab.udpPorts[1])", "out_num_packets": "300", "timeout": "1000000000"]
    let outcome = await QoSRun(try lab.plan([("udp", objective)])).run()
    #expect(began.passed < .seconds(20), "300 ms between two packets take 90 s")
    // A number is one byte: the server counts 256 different ones at most.
    #expect(outcome.number(1, "udp_result_out_num_packets") == 300)
    #expect(outcome.value(1, "udp_result_out_packet_loss_rate") == "0")
  }

  @Test(
    "When all UDP packets are lost, then the result is 100 percent loss after the test's time, and a call is a TIMEOUT")
  func totalLoss() async throws {
    let lab = try await QoSLab(["--fault", "udp-drop=100"])
    let outcome = await QoSRun(
      try lab.plan([
        (
          "udp",
          ["out_port": "\(lab.udpPorts[1])", "out_num_packets": "4", "delay": "20000000", "timeout": "500000000"]
        ),
        ("udp", ["in_num_packets": "4", "timeout": "500000000"]), lab.call(["timeout": "500000000"]),
      ])
    ).run()
    #expect(outcome.results.map(\.status) == [.timeout, .timeout, .timeout])
    #expect(outcome.value(1, "udp_result_out_packet_loss_rate") == "100")
    #expect(outcome.value(2, "udp_result_in_packet_loss_rate") == "100")
    #expect(outcome.value(3, "voip_result_status") == "TIMEOUT")
  }

  @Test("When the line of a proxy test comes back changed, then the result is ERROR and has the line")
  func rewritten() async throws {
    let lab = try await QoSLab(["--fault", "rewrite"])
    let outcome = await QoSRun(
      try lab.plan([("non_transparent_proxy", ["port": "\(try LoopbackPort.free())", "request": "GET / HTTR/7.9"])])
    ).run()
    #expect(outcome.value(1, "nontransproxy_result") == "ERROR")
    #expect(outcome.value(1, "nontransproxy_result_response") == "GET / HTTR/7.9 HTTP/1.1")
  }

  @Test(
    "When the server never answers, then its tests are TIMEOUT in their time, and parallel and later tests run"
  )
  func silent() async throws {
    let lab = try await QoSLab(["--fault", "silent"])
    let start = ProgressWatch()
    let outcome = await QoSRun(
      try lab.plan([
        ("tcp", ["out_port": "\(try LoopbackPort.free())"]), ("udp", ["out_num_packets": "3"]), lab.call(),
        ("non_transparent_proxy", ["port": "2000", "request": "x"]),
        ("traceroute", ["host": "127.0.0.1", "max_hops": "2"]),
        ("traceroute", ["host": "127.0.0.1", "max_hops": "2", "concurrency_group": "200"]),
      ])
    ).run()
    #expect(outcome.results.map(\.status) == [.timeout, .timeout, .timeout, .timeout, .ok, .ok])
    #expect(outcome.results[4].duration < 10_000_000_000)
    #expect(start.passed < .seconds(60))
  }

  @Test("When the server's ports are closed, then its tests are ERROR at once")
  func nothingListens() async throws {
    let lab = try await QoSLab()
    let plan = try lab.plan([("tcp", ["out_port": "20000"]), ("udp", ["out_num_packets": "3"]), lab.call()])
    try await lab.server.stop()
    let start = ProgressWatch()
    let outcome = await QoSRun(plan).run()
    #expect(outcome.results.map(\.status) == [.error, .error, .error])
    #expect(outcome.results.allSatisfy { $0.trouble?.hasSuffix("Connection refused") == true }, "the log says why")
    #expect(outcome.value(1, "tcp_result_out") == "ERROR")
    #expect(outcome.value(2, "udp_result_out_packet_loss_rate") == "100")
    #expect(start.passed < .seconds(10))
  }
}

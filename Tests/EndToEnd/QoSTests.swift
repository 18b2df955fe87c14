import Foundation
import TestSupport
import Testing

/// QoS tests after a user's speed test: the program, the control server, the measurement server with its QoS part.
@Suite(.serialized) struct QoSTests {
  /// The results of the QoS tests of the first speed test, as the control server accepted them.
  private func results(_ field: Field) async throws -> [[String: Any]] {
    let test = try #require(try await field.server.speedTests().first)
    let bodies = test["qos_results"] as? [[String: Any]] ?? []
    #expect(bodies.count == 1, "the report arrived once")
    return bodies.first?["qos_result"] as? [[String: Any]] ?? []
  }

  /// The members with a test's outcome, by type.
  private static let statusMembers = [
    "tcp": ["tcp_result_out", "tcp_result_in"], "voip": ["voip_result_status"],
    "non_transparent_proxy": ["nontransproxy_result"], "dns": ["dns_result_info"], "website": ["website_result_info"],
    "traceroute": ["traceroute_result_status"], "traceroute_masked": ["traceroute_result_status"],
  ]

  @Test("when speedtest.qos is set, then the control server has a report with every type, each of them OK")
  func everyType() async throws {
    let field = try await Field.moving("speedtest: { qos: true }", withQoS: true)
    let finished = try await field.run("speedtest")
    #expect(finished.status == 0, "\(finished.errors)")
    let stored = try #require(try await field.speedTests().first)
    #expect(stored["state"] as? String == "submitted" && stored["qos_state"] as? String == "submitted")
    let results = try await results(field)
    #expect(
      Set(results.compactMap { $0["test_type"] as? String })
        == Set(Self.statusMembers.keys).union(["udp", "http_proxy"]))
    for result in results {
      let type = try #require(result["test_type"] as? String)
      let statuses = (Self.statusMembers[type] ?? []).compactMap { result[$0] as? String }
      #expect(statuses.allSatisfy { $0 == "OK" }, "\(result)")
      switch type {
      case "udp":
        let way = result["udp_objective_out_num_packets"] == nil ? "in" : "out"
        #expect(result["udp_result_\(way)_num_packets"] as? Int == 6, "\(result)")
        #expect(result["udp_result_\(way)_packet_loss_rate"] as? String == "0")
      case "http_proxy":
        #expect([200, 206].contains(result["http_result_status"] as? Int))
        #expect((result["http_result_hash"] as? String)?.count == 32)
      case "voip":
        #expect(result["voip_result_in_num_packets"] as? Int == 100, "\(result)")
        #expect(result["voip_result_out_num_packets"] as? Int == 100)
      case "dns": #expect(result["dns_result_status"] as? String == "NOERROR")
      default: #expect(!statuses.isEmpty)
      }
    }
  }

  @Test(
    """
    when the QoS server never replies and no resolver answers, then the types that need them are TIMEOUT or ERROR, and a wrong wall \
    clock makes no wait longer
    """, .enabled(if: SettableClock.isPossible, "needs a C compiler"))
  func silent() async throws {
    let field = try await Field.moving(
      "speedtest: { qos: true }", withQoS: true, measurementOptions: ["--fault", "silent"],
      serverOptions: ["--qos-resolver", "127.0.0.1:9"])
    // A wait until a wall time would last an hour longer, as if the clock had been set back meanwhile.
    let clock = try await SettableClock.library(in: field.folder)
    let program = try RunningProgram.product(
      "coverage-probe", ["speedtest", "--config", field.configuration],
      environment: ["LD_PRELOAD": clock, "CLOCK_SHIFT": try field.folder.write("3600", to: "shift")])
    #expect(try await program.exitStatus(within: .seconds(180)) == 0, "\(program.standardError)")
    let results = try await results(field)
    func status(_ type: String) -> [String] {
      results.filter { $0["test_type"] as? String == type }.flatMap { result in
        (Self.statusMembers[type] ?? []).compactMap { result[$0] as? String }
      }
    }
    #expect(status("tcp") == ["TIMEOUT", "TIMEOUT"] && status("voip") == ["TIMEOUT"])
    #expect(status("dns") == ["ERROR"], "the port is closed")
    #expect(status("website") == ["OK"] && status("traceroute") == ["OK"])
  }

  /// The UDP sockets of a process (proc_pid_fd(5), proc_pid_net(5)).
  private static func datagramSockets(_ pid: Int32) -> Set<String> {
    let folder = "/proc/\(pid)/fd"
    let links = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
    }
    let sockets = Set(links.compactMap { $0.wholeMatch(of: /socket:\[(\d+)\]/).map { String($0.1) } })
    let table = (try? String(contentsOfFile: "/proc/\(pid)/net/udp", encoding: .utf8)) ?? ""
    return sockets.intersection(
      table.split(separator: "\n").compactMap { line in
        let fields = line.split(separator: " ")
        return fields.count > 9 ? String(fields[9]) : nil
      })
  }

  @Test(
    "when the process is suspended during the QoS tests, then the speed test is submitted without their wrong times"
  )
  func stoodStill() async throws {
    let field = try await Field.moving(
      "speedtest: { qos: true }", withQoS: true, measurementOptions: ["--fault", "silent"])
    let program = try await examining(field)
    program.signal(SIGSTOP)
    let until = ContinuousClock.now + .seconds(4)
    _ = try await eventually("4 s without the process") { ContinuousClock.now >= until ? true : nil }
    program.signal(SIGCONT)
    #expect(try await program.exitStatus() == 0, "\(program.standardError)")
    #expect(program.standardError.contains("no QoS results: the process stood still during the test"))
    let stored = try await field.speedTests().filter { $0["qos_state"] == nil }
    #expect(stored.map { $0["state"] as? String } == ["submitted"])
    #expect(try await field.server.speedTests().contains { ($0["qos_results"] as? [Any])?.isEmpty == true })
  }

  /// A program whose QoS tests run. On a busy machine they can be over before this test has seen them: then another program's.
  private func examining(_ field: Field) async throws -> RunningProgram {
    for number in 1...10 {
      let program = try field.start("speedtest")
      _ = try await eventually("the QoS tests are asked for") {
        try await field.server.requests(to: "qosTestRequest").count >= number || !program.isRunning ? true : nil
      }
      // A look-up, or the choice of a source address, has one only for a moment.
      var seen: [String: ContinuousClock.Instant] = [:]
      let isRunning = try await eventually("a QoS test by UDP runs, or all are over") {
        let open = Self.datagramSockets(program.pid)
        seen = Dictionary(uniqueKeysWithValues: open.map { ($0, seen[$0] ?? .now) })
        return seen.values.contains { $0 < .now - .milliseconds(500) } ? true : program.isRunning ? nil : false
      }
      if isRunning { return program }
    }
    return try #require(nil as RunningProgram?, "the QoS tests of ten programs were over at once")
  }

  @Test("when the program is killed during the QoS tests, then the result of the speed test reaches the server, once")
  func killed() async throws {
    let field = try await Field.moving("speedtest: { qos: true }", withQoS: true)
    let program = try field.start("speedtest")
    _ = try await eventually("the result is stored, and the QoS tests run") {
      try await field.speedTests().first?["state"] as? String == "waiting" ? true : nil
    }
    program.signal(SIGKILL)
    #expect(try await program.exitStatus() == -SIGKILL)
    let killed = try #require(try await field.speedTests().first)
    #expect(killed["outcome"] as? String == "completed" && killed["qos_state"] == nil)
    #expect(try await field.run("submit").status == 0)
    let held = try await field.server.speedTests()
    #expect(held.map { $0["results_accepted"] as? Int } == [1])
    #expect((held.first?["qos_results"] as? [Any])?.isEmpty == true)
  }
}

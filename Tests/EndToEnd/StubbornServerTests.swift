import Foundation
import TestSupport
import Testing

/// Servers that hang or refuse, but stay reachable.
@Suite(.serialized)
struct StubbornServerTests {
  private func field(
    reflector: [String] = [], server: [String] = [], settings: String = "recovery: { retry-delay: 200ms }"
  ) async throws -> Field {
    let track = Surroundings.root.appending(path: "tools/gps-player/demo-track.csv").path
    let gps = try await GPSPlayerTool(["--gpsd", "--speed", "3", track])
    return try await Field(
      gpsdPort: gps.port, keeping: [gps.program], settings: settings, reflectorOptions: reflector,
      serverOptions: server)
  }

  private func start(_ command: String, _ field: Field) throws -> RunningProgram {
    try .product(
      "coverage-probe", [command, "--config", field.configuration],
      environment: ["COVERAGE_PROBE_CONTROL_SERVER_REQUEST_TIMEOUT": "1s"])
  }

  @Test("when the control server hangs at each step, then each request times out, and no fence is lost")
  func hangs() async throws {
    let field = try await field()
    try await field.server.setFault("hang:60", on: "settings", count: 1)
    try await field.server.setFault("hang:60", on: "coverageRequest", count: 1)
    try await field.server.setFault("hang:60", on: "coverageResult")
    let record = try start("record", field)
    _ = try await eventually("the test") { try await field.sessions().first?["test_uuid"] }
    #expect(record.standardError.contains("the drive goes on, trying again"), "\(record.standardError)")
    let requests = try await field.server.requests(to: "coverageRequest")
    #expect((2...3).contains(requests.count), "one that hung, and one that succeeded, or two on a busy machine")
    let before = try await field.replayed().count
    _ = try await eventually("fences after the test") {
      try await field.replayed().count >= before + 2 ? () : nil
    }
    try await field.waitForPings()
    let stopped = ProgressWatch()
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 75, "\(record.standardError)")
    #expect(stopped.passed < .seconds(10))
    #expect(record.standardOutput.contains("kept for later"))

    try await field.server.clearFaults()
    #expect(try await start("submit", field).exitStatus() == 0)
    let sent = try await field.server.fences().compactMap { $0.integer("offset_ms") }
    // Those of the first 5 s of the request are not measured: it could still be answered.
    let recorded = try await field.replayed().filter { $0["submittable"] as? Bool == true }
    #expect(sent.sorted() == recorded.compactMap { $0["offset_ms"] as? Int }.sorted())
    #expect(sent.contains { $0 < 0 }, "fences from before the test are among them")
  }

  @Test("when the ping server refuses every token, then requests for tests back off, at little cost")
  func refusesEverything() async throws {
    let field = try await field(reflector: ["--force-re01", "100"])
    let record = try start("record", field)
    _ = try await eventually("ten seconds") { record.standardError.contains("00:00:10  ") ? () : nil }
    let seconds = try processorSeconds(of: record.pid)
    // Twice at once, and then 0.2, 0.4, 0.8 ... s after the last: ten seconds have room for seven requests.
    let requests = try await field.server.requests(to: "coverageRequest").count
    #expect((4...8).contains(requests), "\(requests) requests in ten seconds")
    #expect(seconds < 3, "\(seconds) s of processor time in ten seconds")
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 69, "\(record.standardError)")
    #expect(record.standardOutput.hasSuffix("no ping was sent: the ping server refused the token (RE01)\n"))
    let pings = try await field.replayed().compactMap { $0["pings"] as? Int }.reduce(0, +)
    #expect(pings == 0, "a refused ping has no outcome")
  }

  @Test("when the ping server of a test has no address, then nothing is measured, and no other test is requested")
  func unknownPingServer() async throws {
    let field = try await field(server: ["--ping-host", "no-such-host.invalid"])
    let record = try start("record", field)
    _ = try await eventually("the test") { try await field.sessions().first?["test_uuid"] }
    _ = try await eventually("fences") { try await field.replayed().count >= 3 ? () : nil }
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 69, "\(record.standardError)")
    #expect(record.standardError.contains("cannot find the address of no-such-host.invalid"), "\(record.standardError)")
    let last = try #require(record.standardOutput.split(separator: "\n").last)
    #expect(last.hasPrefix("no ping was sent: cannot find the address of no-such-host.invalid"), "\(last)")
    #expect(try await field.server.requests(to: "coverageRequest").count == 1)
    let recorded = try await field.replayed()
    #expect(recorded.count >= 3 && recorded.allSatisfy { $0["submittable"] as? Bool == false })
    #expect(try await field.server.fences().isEmpty, "the server would take them for dead zones")
  }

  @Test("when a test requested before Wi-Fi arrives on Wi-Fi, then it gets the fences so far, and no ping uses it")
  func lateAnswer() async throws {
    let field = try await field()
    let path = try field.folder.write("cellular\n", to: "path")
    try await field.server.setFault("slow:3", on: "coverageRequest", count: 1)
    let record = try RunningProgram.product(
      "coverage-probe", ["record", "--config", field.configuration],
      environment: ["COVERAGE_PROBE_NETWORK_SOURCE": "file:\(path)"])
    _ = try await eventually("the request") {
      try await field.server.requests(to: "coverageRequest").isEmpty ? nil : ()
    }
    _ = try field.folder.write("wifi\n", to: "path")
    _ = try await eventually("the late test") { try await field.sessions().first?["test_uuid"] }
    _ = try field.folder.write("cellular\n", to: "path")
    _ = try await eventually("fences with pings") {
      try await field.replayed().contains { $0["pings_ok"] as? Int ?? 0 > 5 } ? () : nil
    }
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")
    #expect(try await field.server.requests(to: "coverageRequest").count == 2)
    let tests = try await field.sessions().compactMap { $0["test_uuid"] as? String }
    try #require(tests.count == 2)
    let fences = try await field.replayed()
    let pingsOfFirst = fences.filter { $0["test_uuid"] as? String == tests[0] }.compactMap { $0["pings"] as? Int }
    #expect(pingsOfFirst.reduce(0, +) == 0)
    #expect(fences.contains { $0["test_uuid"] as? String == tests[1] && $0["pings_ok"] as? Int ?? 0 > 5 })
  }

  /// User and system time of a process, all its threads together (proc_pid_stat(5)).
  private func processorSeconds(of pid: Int32) throws -> Double {
    let text = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    let figures = text.split(separator: ")").last?.split(separator: " ") ?? []
    let ticks = try #require(
      figures.count > 12 ? Double(figures[11]).flatMap { a in Double(figures[12]).map { a + $0 } } : nil)
    return ticks / Double(sysconf(CInt(_SC_CLK_TCK)))
  }
}

import Foundation
import TestSupport
import Testing

/// Speed tests of a control server as a user makes them: the program, the control server, the measurement server, a receiver that moves.
struct LoopTests {
  @Test("when a test is made, then it is stored with its place and submitted; while the server is in trouble, it waits")
  func single() async throws {
    let field = try await Field.moving()
    let finished = try await field.run("speedtest")
    #expect(finished.status == 0, "\(finished.errors)")
    #expect(finished.output.contains("the control server has it"))
    try await field.server.setFault("500", on: "result", count: 1)
    let waiting = try await field.run("speedtest", ["--json"])
    #expect(waiting.status == 75 && waiting.lines.first?["submitted"] as? Bool == false)
    #expect(try await field.speedTests().map { $0["state"] as? String } == ["submitted", "sending"])
    #expect(
      try await field.speedTests().allSatisfy { $0["latitude"] != nil && $0["technology"] as? String == "4G/LTE" })
    let submitted = try await field.run("submit")
    #expect(submitted.status == 0 && submitted.output.contains("1 speed test"))
    #expect(try await field.server.speedTests().map { $0["results_accepted"] as? Int } == [1, 1])
    let exported = try await field.run("export", ["--speed-tests", "--format", "jsonl"])
    #expect(exported.lines.count == 2 && exported.lines.allSatisfy { $0["download_curves"] != nil })
  }

  @Test(
    "when the server is one for WebSockets, then RMBThttp works there; when no client can use it, then the test is closed"
  )
  func serverTypes() async throws {
    let webSocket = try await Field.moving(serverOptions: ["--measurement-type", "RMBTws"])
    #expect(try await webSocket.run("speedtest").status == 0)
    let udp = try await Field.moving(serverOptions: ["--measurement-type", "RMBTudp"])
    let refused = try await udp.run("speedtest")
    #expect(refused.status == 1 && refused.output.contains("test_server_type \"RMBTudp\""), "\(refused.output)")
    let held = try await udp.server.speedTests()
    #expect(held.map { $0["state"] as? String } == ["ERROR"] && held.first?["results_accepted"] as? Int == 0)
    #expect(try await udp.speedTests().map { $0["state"] as? String } == ["submitted"])
  }

  @Test("when the data limit is used up, then no test starts, and a line names the limit; --ignore-limit starts one")
  func limited() async throws {
    let field = try await Field.moving("speedtest: { data-limit: { day: 1M } }")
    #expect(try await field.run("speedtest", ["--no-submit"]).status == 0)
    let refused = try await field.run("speedtest", ["--no-submit"])
    #expect(refused.status == 1 && refused.errors.contains("speedtest.data-limit.day"))
    #expect(try await field.run("speedtest", ["--no-submit", "--ignore-limit"]).status == 0)
    #expect(try await field.speedTests().count == 2)
  }

  @Test(
    "when a loop is killed during a test, and suspended by a signal during another, then the server has each test once")
  func killed() async throws {
    let field = try await Field.moving("loop: { count: 4, distance: 25, every: null }")
    let first = try field.start("loop")
    _ = try await eventually("the second test measures") { try await field.isMeasuring(2) }
    first.signal(SIGKILL)
    _ = try await first.exitStatus()
    let second = try field.start("loop")
    _ = try await eventually("the third test measures") { try await field.isMeasuring(3) }
    second.signal(SIGSTOP)
    // Longer than a busy host delays a thread.
    let until = ContinuousClock.now + .seconds(4)
    _ = try await eventually("the program stands still for 4 s") { ContinuousClock.now >= until ? true : nil }
    second.signal(SIGCONT)
    #expect(try await second.exitStatus(within: .seconds(300)) == 0)
    let tests = try await field.speedTests()
    #expect(tests.map { $0["test_counter"] as? Int } == [1, 2, 3, 4])
    #expect(tests.map { $0["outcome"] as? String } == ["completed", "aborted", "aborted", "completed"])
    #expect(tests.allSatisfy { $0["state"] as? String == "submitted" })
    let held = try await field.server.speedTests()
    #expect(held.map { $0["state"] as? String } == ["FINISHED", "ABORTED", "ABORTED", "FINISHED"])
    #expect(held.map { $0["results_accepted"] as? Int } == [1, 0, 0, 1])
    #expect(Set(held.compactMap { $0["loop_uuid"] as? String }).count == 1)
    #expect(second.standardError.contains("the process stood still during the test"))
  }

  @Test(
    "when a loop runs beside a drive and pings continue, then the tests have delays under load, and the log marks the pings"
  )
  func beside() async throws {
    let field = try await Field.moving(
      "loop: { count: 1, distance: 25, every: null }\nspeedtest: { coverage-pings: continue }")
    let recording = try field.start("record", ["--loop"])
    _ = try await eventually("the test has ended") {
      recording.standardOutput.contains("the loop is over") ? true : nil
    }
    recording.signal(SIGTERM)
    #expect(try await recording.exitStatus(within: .seconds(120)) == 0)
    let log = try String(contentsOfFile: try field.driveLog(), encoding: .utf8)
    #expect(log.contains(#""load":"download""#) && log.contains(#""load":"upload""#))
    let exported = try await field.run("export", ["--speed-tests", "--format", "jsonl"])
    let test = try #require(exported.lines.first)
    #expect(test["download_delay_median_ms"] != nil && test["upload_delay_median_ms"] != nil)
    #expect(test["drive"] as? Int == 1)
    #expect(try await field.sessions().count == 1, "the pings continued in the same session")
    let held = try await field.server.fences()
    #expect(!held.isEmpty && Set(held.map { $0.integer("timestamp_microseconds") }).count == held.count)
  }
}

import Foundation
import TestSupport
import Testing

/// Drives that use several tests of the control server.
@Suite(.serialized)
struct SubSessionTests {
  private func field(reflector: [String] = [], server: [String] = [], settings: String = "") async throws -> Field {
    let track = Surroundings.root.appending(path: "tools/gps-player/demo-track.csv").path
    let gps = try await GPSPlayerTool(["--gpsd", "--speed", "3", track])
    return try await Field(
      gpsdPort: gps.port, keeping: [gps.program], settings: settings, reflectorOptions: reflector,
      serverOptions: server)
  }

  private func tests(_ field: Field) async throws -> [String] {
    try await field.sessions().compactMap { $0["test_uuid"] as? String }
  }

  private func waitFor(_ count: Int, testsOf field: Field) async throws {
    _ = try await eventually("\(count) tests") {
      try await tests(field).count >= count ? () : nil
    }
  }

  /// Ends the drive; then the server has every fence once, in its own test, and no two fences overlap.
  private func end(_ record: RunningProgram, _ field: Field) async throws {
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")
    let replayed = try await field.replayed()
    let received = try await field.server.fences()
    #expect(!received.isEmpty)
    let sent = received.map { "\($0.test) \($0.integer("offset_ms") ?? 0)" }
    // Fences without a ping, from the time between the refusal and the next test, are not measured.
    let recorded = replayed.filter { $0["submittable"] as? Bool == true }.map {
      "\($0["test_uuid"] as? String ?? "-") \($0["offset_ms"] as? Int ?? 0)"
    }
    #expect(sent.sorted() == recorded.sorted())
    for (fence, next) in zip(replayed, replayed.dropFirst()) {
      #expect((fence["exited"] as? Double ?? .infinity) <= (next["entered"] as? Double ?? 0))
    }
    let loops = Set(try await field.sessions().compactMap { $0["loop_uuid"] as? String })
    #expect(loops.count == 1, "one drive is one loop")
  }

  @Test("when the ping server refuses the token, then the drive continues with another test")
  func refused() async throws {
    let field = try await field(reflector: ["--re01-once"])
    let record = try field.start("record")
    for count in 1...3 {
      try await waitFor(count, testsOf: field)
      field.reflector.program.signal(SIGUSR1)
    }
    try await waitFor(4, testsOf: field)
    #expect(record.standardError.contains("the ping server refuses the token (RE01)"))
    try await end(record, field)
  }

  @Test("when the server limits a session, then the drive changes from test to test")
  func limited() async throws {
    let field = try await field(server: ["--max-measurement-seconds", "2"])
    let record = try field.start("record")
    try await waitFor(4, testsOf: field)
    try await end(record, field)
  }

  @Test("when pings are no longer answered, then another test is requested, and pings continue meanwhile")
  func deadZone() async throws {
    let field = try await field(
      reflector: ["--dead", "2,9"],
      settings: "pings: { timeout: 200ms }\nrecovery: { failure-threshold: 20, backoff: 2s }")
    let record = try field.start("record")
    try await waitFor(3, testsOf: field)
    _ = try await eventually("the dead zone is over") {
      record.standardError.contains("00:00:10  ") ? () : nil
    }
    try await end(record, field)
    let fences = try await field.replayed()
    #expect(
      fences.contains { ($0["pings"] as? Int ?? 0) > 0 && $0["pings_ok"] as? Int == 0 }, "a fence without coverage")
  }
}

import Foundation
import TestSupport
import Testing

/// Whole drives with real parts.
@Suite(.serialized)
struct DriveTests {
  @Test(
    "when a drive through gpsd ends by SIGTERM or SIGHUP, then server, store, export and replay agree",
    .enabled(if: Sky.gpsdProgram != nil, "gpsd is not installed"),
    arguments: [("ublox-8.log", 8, SIGTERM), ("bundg_zeus_9.log", 8, SIGHUP)])
  func drive(fixture: String, speed: Int, signal: CInt) async throws {
    let sky = try await Sky(fixture, pace: ["--speed", "\(speed)"])
    let field = try await Field(gpsdPort: sky.port, keeping: sky.programs)
    let record = try field.start("record")
    try await sky.isOver()
    record.signal(signal)
    let status = try await record.exitStatus()
    #expect(status == 0, "\(record.standardError)")

    let exported = try await field.run("export", ["--format", "jsonl"]).lines
    let all = try await field.run("export", ["--format", "jsonl", "--state", "all"]).lines
    // On a busy machine, the first fences can end before the control server has answered: they are not measured.
    let replayed = try await field.replayed().filter { $0["submittable"] as? Bool == true }
    let received = try await field.server.fences()
    let sessions = try await field.sessions()
    #expect(!exported.isEmpty)
    #expect(sessions.compactMap { $0["fences"] as? Int }.reduce(0, +) == all.count)
    #expect(sessions.allSatisfy { $0["state"] as? String == "submitted" })
    try expectAgreement(exported: exported, replayed: replayed, received: received)
    let figures = exported.reduce(into: (pings: 0, answered: 0)) { sums, fence in
      sums.pings += fence["pings"] as? Int ?? 0
      sums.answered += fence["pings_ok"] as? Int ?? 0
    }
    #expect(figures.pings > 20)
    #expect(figures.answered == figures.pings)
  }

  @Test(
    "when the program is killed in mid-drive, then a later submit sends every closed fence once",
    .enabled(if: Sky.gpsdProgram != nil, "gpsd is not installed"))
  func kill() async throws {
    let sky = try await Sky("bundg_zeus_9.log", pace: ["--speed", "8"])
    let field = try await Field(gpsdPort: sky.port, keeping: sky.programs)
    let record = try field.start("record")
    try await eventually("five fences are stored") {
      try await field.sessions().first?["fences"] as? Int ?? 0 >= 5 ? () : nil
    }
    record.signal(SIGKILL)
    _ = try await record.exitStatus()

    let submit = try await field.run("submit")
    #expect(submit.status == 0, "\(submit.errors)")
    let again = try await field.run("submit")
    #expect(again.output.contains("nothing to submit"))

    let closed = try await field.replayed().dropLast()
    let received = try await field.server.fences()
    for fence in closed {
      let copies = received.filter { $0.integer("offset_ms") == fence["offset_ms"] as? Int }
      #expect(copies.count == 1, "fence entered at \(fence["entered"] ?? "?")")
      #expect(copies.first?.integer("duration_ms") == fence["duration_ms"] as? Int)
    }
    #expect(received.count - closed.count <= 1, "only the open fence may be sent in addition")
  }

  private func expectAgreement(
    exported: [[String: Any]], replayed: [[String: Any]], received: [ReceivedFence]
  ) throws {
    try #require(exported.count == replayed.count)
    try #require(exported.count == received.count)
    for (index, (stored, again)) in zip(exported, replayed).enumerated() {
      let server = received[index]
      for key in Set(stored.keys).union(again.keys).subtracting([
        "id", "session", "drive", "store_id", "clock", "quarantined", "entered_at", "exited_at", "entered", "exited",
      ]) {
        #expect(stored[key] as? NSObject == again[key] as? NSObject, "fence \(index), \(key)")
      }
      func number(_ key: String) -> Double? { (stored[key] as? NSNumber)?.doubleValue }
      #expect(server.test == stored["test_uuid"] as? String)
      for key in ["latitude", "longitude"] {
        let sent = try #require((server.location[key] as? NSNumber)?.doubleValue)
        let shown = try #require(number(key))
        #expect(abs(sent - shown) <= 0.51e-7, "an export has seven decimals")
      }
      #expect(server.integer("offset_ms") == stored["offset_ms"] as? Int)
      #expect(server.integer("duration_ms") == stored["duration_ms"] as? Int)
      #expect(server.number("radius") == number("radius_m")?.rounded(.towardZero))
      #expect(server.text("technology") == stored["technology"] as? String)
      #expect(server.integer("technology_id") == stored["technology_id"] as? Int)
      switch (server.number("avg_ping_ms"), number("avg_ping_ms")) {
      case (nil, nil): break
      case (let sent?, let shown?): #expect(abs(sent - shown) < 0.0056, "the wire has two decimals, an export three")
      default: Issue.record("fence \(index): a mean delay in only one of server and export")
      }
    }
  }
}

import Coverage
import Foundation
import OrderedJSON
import Store

@testable import Submission

/// A control server's answer to each request: status, `Retry-After`, `Date`, and from the fourth line on the body.
enum ServerAnswers: FuzzTarget {
  static let seeds = [
    """
    200
    120
    Fri, 20 Nov 2026 10:00:00 GMT
    {"test_uuid":"T1","loop_uuid":"L1","ping_token":"AAAAAAAAAAAAAAAAAAAAAA==","ping_host":"127.0.0.1","ping_port":"444",\
    "ip_version":4,"max_coverage_session_seconds":14400,"max_coverage_measurement_seconds":"1800","error":[]}
    """,
    """
    200

    Friday, 20-Nov-26 10:01:00 GMT
    {"settings":[{"uuid":"C1"}],"error":[]}
    """,
    """
    200

    Fri Nov 20 10:02:00 2026
    {"history":[{"test_uuid":"T1","time":1795168800000,"fencesCount":12},{"test_uuid":"T2","time":"1795168700000",\
    "fencesCount":"3"}],"error":[]}
    """,
    """
    429
    Fri, 20 Nov 2026 10:10:00 GMT
    Fri, 20 Nov 2026 10:00:00 GMT
    {"error":["too many"]}
    """,
    "200\n\n\n" + memory, "503\n30\n\n<html>no</html>", "400\n\n\n{\"error\":[\"No client found\"]}", "302\n\n\n",
  ].map { Array($0.utf8) }

  private static let memory = #"""
    {"breaker":{"state":"open","refusals":2,"step":3,"deadline":200000000,"remaining":50000000,"bootID":"B"},\#
    "retryAfter":{"at":300000000,"remaining":200000000},"trouble":{"at":300000000,"remaining":200000000},"failures":4}
    """#

  static let words = [
    "\"failures\":", "\"deadline\":", "\"remaining\":", "\"step\":",
    "\"test_uuid\":", "\"ping_token\":", "\"ping_port\":", "\"max_coverage_session_seconds\":",
    "\"maxCoverageSessionSeconds\":", "\"max_coverage_measurement_seconds\":", "\"history\":", "\"fencesCount\":",
    "\"time\":",
    "\"settings\":", "\"error\":", "9223372036854775807", "-9223372036854775808", "1099511627775", "1e400", "294247",
    "999999",
    "GMT", "\n",
  ]

  static func run(_ input: [UInt8]) {
    let lines = input.split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    let status = Int(lines[0]).map { min(max($0, 0), 999) } ?? 200
    let retryAfter = lines.count > 1 ? RetryAfter.wait(lines[1], date: lines.count > 2 ? lines[2] : nil) : nil
    if lines.count > 2 { note(date: lines[2]) }
    let body = Data((lines.count > 3 ? lines[3] : "").utf8)
    do {
      read(try ServerAnswer.body(status: status, retryAfter: retryAfter, body: body, clientUUID: "C1"))
    } catch {
      follow(error)
    }
  }

  private static let drive = WallTime(microseconds: 1_795_168_800_000_000)

  private static func note(date: String) {
    let server = ServerDate()
    server.note(date, sent: .now)
    guard let reading = server.latest else { return }
    _ = (reading.date.iso8601, reading.date - drive, drive.since(reading.date))
    var clock = WallClock()
    clock.note(server: reading.date, at: .seconds(100), roundTrip: .milliseconds(40))
    let selection = clock.select(host: drive, at: .seconds(200))
    _ = (clock.agreement(at: .seconds(300)), selection.wall(at: .seconds(300)).iso8601, "\(selection)")
  }

  private static func read(_ body: Data) {
    resume(body)
    _ = try? SettingsAnswer.clientUUID(body, known: nil)
    if let page = try? HistoryPage(body) {
      var reading = HistoryReading(cursor: 0, oldest: .min)
      reading.append(page)
    }
    guard let grant = try? CoverageGrant(body) else { return }
    var engine = Engine()
    for (second, limit) in [grant.maximumDrive, grant.maximumSession].enumerated() {
      let event = Event(
        at: .start + .seconds(second),
        .session(SessionGrant(testUUID: grant.testUUID, anchor: .start, maximumDuration: limit)))
      _ = engine.handle(event)
      _ = limit.map { JSON.seconds($0).text }
    }
    _ = engine.advance(to: .start + .seconds(3600))
  }

  private static func follow(_ failure: ServerFailure) {
    _ = "\(failure)"
    _ = Verdict(failure).isDefiniteNo
    var gate = ServerGate()
    pass(&gate, failure)
    pass(&gate, failure)
  }

  /// Reads the state of the gate, as the store keeps it in JSON.
  private static func resume(_ text: Data) {
    guard let memory = try? JSONDecoder().decode(ServerGate.Memory.self, from: text) else { return }
    for bootID in [memory.breaker.bootID, "another"] {
      var gate = ServerGate(policy: .init(), memory: memory, at: .seconds(100), bootID: bootID)
      pass(&gate, .tooManyRequests(retryAfter: nil))
    }
  }

  private static func pass(_ gate: inout ServerGate, _ failure: ServerFailure) {
    let now: Duration = .seconds(100)
    if case .leave(let call) = gate.ask(.forced, at: now, random: 1) {
      gate.heard(failure, at: now + .seconds(1))
      gate.end(call, .failed(failure), at: now + .seconds(1), random: 1)
    }
    gate.troubled(by: failure, at: now + .seconds(1), random: 1)
    _ = gate.hold(.background, at: now + .seconds(2)).map { ("\($0)", $0.wait.inMilliseconds) }
    _ = try? JSONEncoder().encode(gate.memory(at: now + .seconds(2), bootID: "B"))
  }
}

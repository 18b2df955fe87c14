import Coverage
import Foundation
import Positioning
import TestSupport
import Testing

@testable import Driving
@testable import Service
@testable import Submission

/// The status as lines, as JSON and as metrics (docs/service.md).
struct ServiceStatusTests {
  private func status(_ change: (inout ServiceStatus) -> Void = { _ in }) -> ServiceStatus {
    var status = ServiceStatus(started: .sampleStart)
    status.reason = "waiting for a command"
    change(&status)
    return status
  }

  private func object(_ status: ServiceStatus) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(status.json.text.utf8)) as? [String: Any])
  }

  /// The value of a metric, as Prometheus reads it.
  private func metric(_ name: String, _ status: ServiceStatus) -> Double? {
    let lines = ServiceMetrics(status).text.split(separator: "\n").filter { $0.hasPrefix("coverage_probe_\(name) ") }
    return lines.count == 1 ? lines[0].split(separator: " ").last.flatMap { Double($0) } : nil
  }

  /// The status of a gate after these failures, one call each.
  private func sender(_ failures: [ServerFailure], background: Bool = false) throws -> SenderStatus {
    var gate = ServerGate()
    for failure in failures {
      guard case .leave(let call) = gate.ask(.commanded, at: .seconds(10), random: 0) else { break }
      gate.heard(failure, at: .seconds(10))
      gate.end(call, .failed(failure), at: .seconds(10), random: 0)
      if background { gate.troubled(by: failure, at: .seconds(10), random: 0) }
    }
    return SenderStatus(gate, at: .seconds(10))
  }

  @Test("when the service is new, then the lines are the state and the queue, and there is no position")
  func fresh() throws {
    #expect(
      status().lines == [
        "idle: waiting for a command", "waiting to be sent: 0 fences in 0 sessions; 0 fences quarantined",
      ])
    let json = try object(status())
    #expect(json["state"] as? String == "idle")
    #expect(json["started_at"] as? String == "2026-11-20T10:00:00.000Z")
    #expect(json["clock_set"] as? Bool == true)
    #expect(json["position"] == nil)
    #expect(json["sender"] == nil)
    #expect(json["last_pass"] == nil)
    #expect((json["drives"] as? [Any])?.isEmpty == true)
  }

  @Test("when one fence waits, then the lines count in the singular")
  func singular() {
    let one = status {
      $0.waiting.fences = 1
      $0.waiting.sessions = 1
      $0.waiting.quarantined = 1
      $0.waiting.withoutSession = 1
    }
    #expect(
      one.lines.dropFirst() == [
        "waiting to be sent: 1 fence in 1 session; 1 fence quarantined",
        "1 fence without a session waits until it is old enough",
      ])
    let two = status { $0.waiting.withoutSession = 2 }
    #expect(two.lines.last == "2 fences without a session wait until they are old enough")
    #expect(metric("fences_without_session", two) == 2)
    #expect(metric("waiting_fences", one) == 1)
    #expect(metric("waiting_sessions", one) == 1)
    #expect(metric("quarantined_fences", one) == 1)
  }

  @Test("when the store cannot be read, then the status says so, and has no counts")
  func unreadable() throws {
    let status = status { $0.disk.isStoreReadable = false }
    #expect(status.lines.dropFirst() == ["the store cannot be read: what waits to be sent is unknown"])
    #expect(try object(status)["waiting"] == nil)
  }

  @Test("when a position is lost, then its age goes on from the last position")
  func lostPosition() {
    var track = StatusTrack()
    let now = ContinuousClock.now
    let fix = Fix(coordinate: Coordinate(latitude: 48.2, longitude: 16.4), accuracy: 5)
    track.note(.fix(PositionedFix(fix: fix, arrival: now)))
    track.note(.fix(PositionedFix(fix: .lost, arrival: now + .seconds(60))))
    #expect(track.status(at: now + .seconds(61)).receiver.fixAge == .seconds(61))
  }

  @Test("when fences are kept and none waits, then no line is about sending; fences that wait beside them have theirs")
  func kept() {
    let kept = status { $0.waiting.kept = 3 }
    #expect(kept.lines == ["idle: waiting for a command", keptWords(3)])
    let both = status { ($0.waiting.kept, $0.waiting.fences, $0.waiting.sessions) = (3, 2, 1) }
    #expect(
      both.lines.dropFirst() == ["waiting to be sent: 2 fences in 1 session; 0 fences quarantined", keptWords(3)])
  }

  @Test("when a drive measures, then its line, its JSON and its metric show it")
  func recording() throws {
    var drive = DriveStatus()
    drive.elapsed = .seconds(751)
    drive.fix = Fix(coordinate: Coordinate(latitude: 48.2082, longitude: 16.3738), accuracy: 4, speed: 13.4)
    drive.isAccurate = true
    drive.fences = 17
    drive.openFence = .sample(lasted: nil)
    drive.testUUID = "T1"
    drive.technology = Technology("4G/LTE")
    drive.warnings = ["wifi"]
    for rtt in [30_000_000, 33_400_000] as [Int64] { drive.lastSecond.count(.answered(rttNanoseconds: rtt)) }
    drive.lastSecond.count(.failed(.timeout))
    let status = status {
      ($0.state, $0.reason, $0.links, $0.receiver.fix, $0.receiver.fixAge) = (
        .recording, "moving", [drive], drive.fix, .milliseconds(1250)
      )
    }
    #expect(
      status.lines.prefix(3) == [
        "recording: moving", "00:12:31  48.20820 16.37380 ±4.0 m  17 fences  31.7 ms 33 % lost  4G/LTE", "! wifi",
      ])
    #expect(metric("recording", status) == 1)
    let json = try object(status)
    #expect(json["satellites"] == nil)
    var seen = status
    seen.receiver.satellites = Satellites(seen: 12, used: 7)
    #expect(try object(seen)["satellites"] as? [String: Int] == ["used": 7, "seen": 12])
    let position = try #require(json["position"] as? [String: Any])
    #expect(position["latitude"] as? Double == 48.2082)
    #expect(position["age_s"] as? Double == 1.25)
    let first = try #require((json["drives"] as? [[String: Any]])?.first)
    #expect(first["test_uuid"] as? String == "T1")
    #expect(first["elapsed_s"] as? Int == 751)
    #expect(first["warnings"] as? [String] == ["wifi"])
    #expect(first["link"] == nil)
    let second = try #require(first["last_second"] as? [String: Double])
    #expect(second == ["pings": 3, "pings_ok": 2, "avg_ping_ms": 31.7])
    let fence = try #require(first["open_fence"] as? [String: Any])
    #expect(fence["pings"] as? Int == 40)
    #expect(fence["pings_ok"] as? Int == 39)
    #expect(fence["avg_ping_ms"] as? Double == 31.67)
    #expect(fence["p95_ping_ms"] == nil, "no distribution is known")
  }

  @Test("when the last fix is lost, then status has its age, but no coordinates")
  func lostFix() throws {
    let position = try #require(
      try object(status { ($0.receiver.fix, $0.receiver.fixAge) = (.lost, .seconds(3600)) })["position"]
        as? [String: Any])
    #expect(position["latitude"] == nil)
    #expect(position["accuracy_m"] == nil)
    #expect(position["age_s"] as? Double == 3600)
  }

  @Test("when two links are measured, then one line shows both, each by its name")
  func twoLinks() {
    let links = ["A", "B"].map { name -> DriveStatus in
      var link = DriveStatus()
      (link.link, link.elapsed, link.fences) = (name, .seconds(4 * 3600), name == "A" ? 1 : 2)
      return link
    }
    let line = status { $0.links = links }.lines[1]
    #expect(line == "04:00:00  no fix  A: 1 fence  no pings  no technology | B: 2 fences  no pings  no technology")
  }

  @Test(
    "when the disk has less than 1 MiB, then status asks for space; when a write was refused, then it says why",
    arguments: [
      (ServiceStatus.Disk(freeBytes: 1 << 20), String?.none, 0.0, 0.0),
      (
        .init(freeBytes: (1 << 20) - 1),
        "disk: the disk of the state directory is full: delete other files until 1 MiB is free; 1023 KiB free", 1, 0
      ),
      (
        .init(freeBytes: 0, unsavedFences: 1, trouble: "the disk is full"),
        "disk: the disk is full; 1 fence in memory only; 0 KiB free", 1, 1
      ),
      (
        .init(freeBytes: nil, unsavedFences: 3, trouble: "the disk is read-only"),
        "disk: the disk is read-only; 3 fences in memory only", 0, 1
      ),
      (.init(), nil, 0, 0),
    ])
  func disk(disk: ServiceStatus.Disk, line: String?, full: Double, trouble: Double) throws {
    let status = status { $0.disk = disk }
    #expect(status.lines.first { $0.hasPrefix("disk:") } == line)
    #expect(metric("disk_full", status) == full)
    #expect(metric("disk_trouble", status) == trouble)
    #expect(metric("disk_free_bytes", status) == disk.freeBytes.map(Double.init), "unknown free space has no sample")
    #expect(metric("unsaved_fences", status) == Double(disk.unsavedFences))
    let json = try #require(try object(status)["disk"] as? [String: Any])
    #expect(json["full"] as? Bool == (full == 1))
    #expect(json["trouble"] as? String == disk.trouble)
  }

  @Test("when the server answers 429 three times, then status shows the open breaker and its wait")
  func breaker() throws {
    let sender = try sender(Array(repeating: .tooManyRequests(retryAfter: nil), count: 3))
    let status = status { $0.sender = sender }
    #expect(status.lines.last == "circuit breaker open (step 1), next try in 30 s")
    #expect(metric("breaker_open", status) == 1)
    #expect(metric("breaker_half_open", status) == 0)
    #expect(metric("breaker_step", status) == 1)
    #expect(metric("next_attempt_seconds", status) == 30)
    let json = try #require(try object(status)["sender"] as? [String: Any])
    #expect(json["breaker"] as? String == "open")
    #expect(json["next_attempt_s"] as? Double == 30)
  }

  @Test("when the server asks for a pause or there was trouble, then status says why sending waits and how long")
  func hold() throws {
    let pause = try sender([.serverTrouble(status: 503, message: "x", retryAfter: .milliseconds(90_500))])
    #expect(
      status { $0.sender = pause }.lines.last
        == "the control server asked for a pause (Retry-After), next try in 91 s")
    let trouble = try sender([.unreachable("http://x: refused")], background: true)
    #expect(status { $0.sender = trouble }.lines.last == "sending pauses after trouble, next try in 1 s")
    let refusals = try sender([.tooManyRequests(retryAfter: nil)])
    #expect(metric("breaker_refusals", status { $0.sender = refusals }) == 1)
  }

  @Test("when sending is possible, then no line mentions a wait")
  func noHold() throws {
    let sender = try sender([])
    #expect(status { $0.sender = sender }.lines.count == 2)
    #expect(metric("next_attempt_seconds", status { $0.sender = sender }) == 0)
    #expect(metric("next_attempt_seconds", status()) == nil)
  }

  @Test("when a pass has ended, then the last line has its time and result")
  func lastPass() throws {
    var report = PassReport()
    report.tally = PassTally(fences: 12, of: [1])
    let status = status { $0.lastPass = EndedPass(ended: .sampleStart, report: report) }
    #expect(status.lines.last == "last pass (2026-11-20T10:00:00.000Z): submitted 12 fences in 1 session")
    let json = try #require(try object(status)["last_pass"] as? [String: String])
    #expect(json == ["ended_at": "2026-11-20T10:00:00.000Z", "result": "submitted 12 fences in 1 session"])
  }

  @Test("when metrics are written, then each has its help and type before it, once")
  func format() throws {
    let sender = try sender([])
    let text = ServiceMetrics(status { $0.sender = sender }).text
    #expect(text.hasSuffix("\n"))
    var names: [String] = []
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 3)
      if line.hasPrefix("# HELP ") {
        names.append(String(words[2]))
      } else if line.hasPrefix("# TYPE ") {
        #expect(String(words[2]) == names.last && ["gauge", "counter", "histogram"].contains(words[3]))
      } else {
        #expect(words.count == 2 && words[0].hasPrefix(names.last ?? "-") && Double(words[1]) != nil, "\(line)")
      }
    }
    #expect(Set(names).count == names.count && names.count > 10)
  }
}

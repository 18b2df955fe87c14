import Foundation
import TestSupport
import Testing

/// The service under commands, configuration changes and signals.
@Suite(.serialized)
struct ServiceTests {
  private func field(_ settings: String, speed: Int = 3) async throws -> Field {
    let track = Surroundings.root.appending(path: "tools/gps-player/demo-track.csv").path
    let gps = try await GPSPlayerTool(["--gpsd", "--speed", "\(speed)", track])
    return try await Field(gpsdPort: gps.port, keeping: [gps.program], settings: settings)
  }

  private func status(_ field: Field) async throws -> [String: Any]? {
    let answer = try await field.run("status", ["--json"])
    guard answer.status == 0 else { return nil }
    return try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any]
  }

  private func wait(for state: String, _ field: Field) async throws {
    _ = try await eventually("the service is \(state)") {
      try await status(field)?["state"] as? String == state ? () : nil
    }
  }

  private func waitForFences(_ count: Int, _ field: Field) async throws {
    _ = try await eventually("\(count) fences") {
      let drives = try await status(field)?["drives"] as? [[String: Any]]
      return (drives?.first?["fences"] as? Int ?? 0) >= count ? () : nil
    }
  }

  /// Ends the service, within 5 s.
  private func end(_ service: RunningProgram, with statuses: Set<Int32> = [0]) async throws {
    service.signal(SIGTERM)
    let status = try await service.exitStatus(within: .seconds(5))
    #expect(statuses.contains(status), "\(status): \(service.standardError)")
  }

  @Test("when the service gets start and stop, then it sends the drive between them without a command")
  func commands() async throws {
    let field = try await field("agent: { record: command }\nsubmission: { spread: 0s }")
    let service = try field.start("agent")
    try await wait(for: "idle", field)
    #expect(try await field.run("start").output == "start: recording (started by command)\n")
    try await waitForFences(3, field)
    #expect(try await field.run("pause").output == "pause: not recording (paused)\n")
    try await wait(for: "idle", field)
    #expect(try await field.run("resume").output == "resume: recording (started by command)\n")
    try await wait(for: "recording", field)
    _ = try await field.run("stop")
    _ = try await eventually("both drives are sent") {
      let sessions = try await field.sessions()
      let waiting = sessions.filter {
        $0["submittable_fences"] as? Int ?? 0 > 0 && $0["state"] as? String != "submitted"
      }
      return sessions.count == 2 && waiting.isEmpty ? () : nil
    }
    #expect(try await field.server.fences().count >= 3)
    let submit = try await field.run("submit")
    #expect(
      submit.output == "nothing to submit\n" && submit.status == 0, "the service sends by itself: \(submit.errors)")
    try await end(service)
    let none = try await field.run("status")
    #expect(none.status == 1 && none.errors.contains("no service answers at"), "\(none.errors)")
  }

  @Test(
    "when a service runs, then it executes commands for the store (submit --force, sessions forget) and has metrics"
  )
  func commandsForTheStore() async throws {
    let field = try await field("agent: { record: command }\nsubmission: { spread: 0s }")
    #expect(try await field.record(pings: 10, ["--no-submit"]).status == 0)
    try await field.server.setFault("429", on: "settings", count: 3)
    let service = try field.start("agent")
    _ = try await eventually("the breaker is open") {
      _ = try await field.run("submit")
      let sender = try await status(field)?["sender"] as? [String: Any]
      return sender?["breaker"] as? String == "open" ? () : nil
    }
    let lines = try await field.run("status").output
    #expect(lines.contains("circuit breaker open (step 1), next try in "), "\(lines)")
    let metrics = try await field.run("status", ["--metrics"]).output
    #expect(metrics.contains("\ncoverage_probe_breaker_open 1\n"), "\(metrics)")
    #expect(try await field.run("submit").status == 75)
    #expect(try await field.run("submit", ["--force"]).output.hasPrefix("submitted "))
    let session = try #require(try await field.sessions().first?["id"] as? Int)
    let forgotten = try await field.run("sessions", ["forget", "\(session)"])
    #expect(forgotten.output.hasPrefix("session \(session) with ") && forgotten.status == 0, "\(forgotten)")
    let again = try await field.run("sessions", ["forget", "\(session)"])
    #expect(again.status == 1 && again.output.isEmpty, "an error is no result: \(again)")
    #expect(again.errors == "coverage-probe: there is no session \(session); coverage-probe sessions lists them\n")
    try await end(service)
  }

  @Test("when the service is ended in mid-drive, then it ends cleanly, and the next one sends the drive once")
  func terminated() async throws {
    let field = try await field("submission: { spread: 0s }")
    let service = try field.start("agent")
    try await waitForFences(4, field)
    try await end(service)
    let before = try await field.sessions()
    #expect(before.allSatisfy { $0["finalized_at"] != nil && $0["state"] as? String == "pending" })
    let fences = before.compactMap { $0["submittable_fences"] as? Int }.reduce(0, +)

    let next = try field.start("agent")
    _ = try await eventually("the drive is sent") {
      try await field.server.fences().count == fences ? () : nil
    }
    try await end(next)
    #expect(try await field.server.fences().count == fences)
  }

  @Test("when the configuration is read again, then changeable settings apply, and a mistake changes nothing")
  func reload() async throws {
    let field = try await field("agent: { record: command }\nsubmission: { spread: 0s }")
    let original = try String(contentsOfFile: field.configuration, encoding: .utf8)
    let service = try field.start("agent")
    try await wait(for: "idle", field)
    func reload(_ text: String, saying line: String) async throws {
      try text.write(toFile: field.configuration, atomically: true, encoding: .utf8)
      service.signal(SIGHUP)
      _ = try await eventually(line) { service.standardError.contains(line) ? () : nil }
    }
    try await reload(
      original.replacing("record: command", with: "record: often"),
      saying: "agent.record is \"often\": expected always, moving or command; the service goes on")
    let changed = original.replacing("record: command", with: "record: always, resend-interval: 20m").replacing(
      "4G/LTE", with: "5G/NR")
    try await reload(
      changed.replacing("host: 127.0.0.1", with: "host: localhost"),
      saying: "after a restart of the service: gpsd.host, agent.resend-interval\n")
    #expect(service.standardError.contains("at once: agent.record\n"))
    #expect(service.standardError.contains("with the next drive: radio.source\n"))
    try await wait(for: "recording", field)
    try await end(service)
  }

  @Test(
    "when a drive ends while the disk is full, then its fences stay in memory until there is room, and are sent",
    .enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"))
  func endsOnFullDisk() async throws {
    let folder = try TemporaryFolder()
    let disk = folder.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
    // Too small to reserve space.
    try #require(mount("tmpfs", disk, "tmpfs", 0, "size=1m") == 0)
    defer { umount2(disk, CInt(MNT_DETACH)) }
    let track = Surroundings.root.appending(path: "tools/gps-player/demo-track.csv").path
    let gps = try await GPSPlayerTool(["--gpsd", "--speed", "3", track])
    let field = try await Field(
      gpsdPort: gps.port, keeping: [gps.program], settings: "submission: { spread: 0s }",
      stateDirectory: disk + "/state")
    let service = try field.start("agent")
    try await waitForFences(3, field)
    try fill(disk + "/filler")
    _ = try await eventually("the disk is full") {
      service.standardError.contains("cannot write to the store: the disk is full") ? () : nil
    }
    _ = try await field.run("stop")
    _ = try await eventually("the drive has ended") {
      service.standardError.contains("in memory only:") ? () : nil
    }
    // Longer than a stop of the service would wait.
    let stopped = ContinuousClock.now
    _ = try await eventually("a while") { ContinuousClock.now - stopped > .seconds(6) ? () : nil }
    try FileManager.default.removeItem(atPath: disk + "/filler")
    _ = try await eventually("the drive is sent") {
      try await field.sessions().allSatisfy { $0["state"] as? String == "submitted" } ? () : nil
    }
    let recorded = try await field.replayed().compactMap { $0["offset_ms"] as? Int }
    #expect(try await field.server.fences().compactMap { $0.integer("offset_ms") }.sorted() == recorded.sorted())
    try await end(service)
  }

  @Test(
    "when root measures a drive, by command or as a service, then threads keep only the file privileges",
    .enabled(if: getuid() == 0, "needs root"), arguments: ["record", "agent"])
  func privileges(command: String) async throws {
    let field = try await field("submission: { spread: 0s }")
    let program = try field.start(command)
    _ = try await eventually("the drive has a test") {
      try await field.server.tests().isEmpty ? nil : ()
    }
    let aboutFiles: UInt64 = 0b1_1111
    _ = try await eventually("all threads have given up the rest") {
      try privileges(of: program).allSatisfy { $0 & ~aboutFiles == 0 } ? () : nil
    }
    // A drive that ends before its first ping exits with 69.
    try await end(program, with: [0, 69])
  }

  /// The permitted capabilities of each thread.
  private func privileges(of program: RunningProgram) throws -> [UInt64] {
    let threads = "/proc/\(program.pid)/task"
    return try FileManager.default.contentsOfDirectory(atPath: threads).compactMap { thread in
      // Threads may end meanwhile.
      let status = try? String(contentsOfFile: "\(threads)/\(thread)/status", encoding: .utf8)
      let line = status?.split(separator: "\n").first { $0.hasPrefix("CapPrm:") }
      return line.flatMap { UInt64($0.dropFirst("CapPrm:".count).trimmingCharacters(in: .whitespaces), radix: 16) }
    }
  }

  @Test("when a file is at the socket's path, then it stays, and the service reports the remedy")
  func occupiedSocket() async throws {
    let folder = try TemporaryFolder()
    let precious = try folder.write("precious", to: "notes")
    try await expectNoSocket(at: precious, because: "there is something that is no socket")
    #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious")
  }

  @Test("when the socket's path cannot be used, then the service says why, and begins no drive")
  func impossibleSocket() async throws {
    try await expectNoSocket(at: "/nowhere/agent.sock", because: "No such file or directory")
  }

  private func expectNoSocket(at path: String, because reason: String) async throws {
    let field = try await field("agent: { socket: \(path) }")
    let agent = try await field.run("agent")
    #expect(agent.status == 1, "\(agent.errors)")
    #expect(agent.errors.contains("cannot take commands at \(path): \(reason)"), "\(agent.errors)")
    #expect(agent.errors.contains("set agent.socket to another path"))
    #expect(!agent.errors.contains("a drive begins"))
  }

  @Test("when the device moves and its position is lost for good, then the drive begins and ends by itself")
  func moving() async throws {
    let field = try await field(
      "agent: { record: moving, start-speed: 2, rest: 3s }\nlocation: { give-up-after: 3s }\nsubmission: { spread: 0s }",
      speed: 8)
    let service = try field.start("agent")
    try await wait(for: "recording", field)
    try await wait(for: "idle", field)
    _ = try await eventually("the drive is sent") {
      try await field.server.fences().isEmpty ? nil : ()
    }
    #expect(service.standardError.contains("a drive begins (moving)"))
    try await end(service)
  }
}

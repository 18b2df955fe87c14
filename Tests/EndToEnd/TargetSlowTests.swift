import Foundation
import TestSupport
import Testing

/// Drives to the user's own target, with real parts and no control server.
@Suite(.serialized)
struct TargetSlowTests {
  /// A receiver that moves north at 20 m/s, and a configuration without a control server.
  private struct Site {
    let folder: TemporaryFolder
    let configuration: String
    private let companions: [RunningProgram]

    /// - Parameters:
    ///   - target: The value of `pings.target`.
    ///   - settings: More lines of the configuration.
    init(target: String, settings: String = "", keeping companions: [RunningProgram] = []) async throws {
      folder = try TemporaryFolder()
      let track = (0..<600).map { "\($0),\(48 + Double($0) * 20 / 111_195),16.37,20,0,170,4" }
      let file = try folder.write(
        (["seconds,latitude,longitude,speed_mps,course_deg,altitude_m,accuracy_m"] + track).joined(separator: "\n"),
        to: "track.csv")
      let player = try await GPSPlayerTool(["--gpsd", file])
      self.companions = companions + [player.program]
      configuration = try folder.write(
        """
        state-directory: \(folder.file("state"))
        gpsd: { host: 127.0.0.1, port: \(player.port) }
        network: { source: fixed-cellular }
        radio: { source: "fixed:4G/LTE" }
        pings: { timeout: 500ms, target: \(target) }
        \(settings)
        """, to: "config.yaml")
    }

    func start(_ command: String, _ arguments: [String] = []) throws -> RunningProgram {
      try .product("coverage-probe", [command, "--config", configuration] + arguments)
    }

    func run(_ command: String, _ arguments: [String] = []) async throws -> Field.Finished {
      let program = try start(command, arguments)
      let status = try await program.exitStatus()
      return Field.Finished(status: status, output: program.standardOutput, errors: program.standardError)
    }

    var log: String? {
      let logs = folder.file("state") + "/drives"
      return (try? FileManager.default.contentsOfDirectory(atPath: logs))?.first.map { logs + "/" + $0 }
    }

    private var events: String { log.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) } ?? "" }

    /// Records until the drive log has `count` lines with `word`, and the store `fences` fences.
    func record(until word: String, _ count: Int, fences: Int = 3, _ arguments: [String] = []) async throws
      -> Field.Finished
    {
      let program = try start("record", arguments)
      _ = try await eventually("\(count) lines with \(word)") { events.ranges(of: word).count >= count ? () : nil }
      _ = try await eventually("\(fences) fences are stored") {
        try await sessions().first?["fences"] as? Int ?? 0 >= fences ? () : nil
      }
      program.signal(SIGTERM)
      let status = try await program.exitStatus()
      return Field.Finished(status: status, output: program.standardOutput, errors: program.standardError)
    }

    func sessions() async throws -> [[String: Any]] {
      let listing = try await run("sessions", ["--json"])
      guard listing.status == 0 else { return [] }
      return try JSONSerialization.jsonObject(with: Data(listing.output.utf8)) as? [[String: Any]] ?? []
    }
  }

  /// What a recorded drive to `target` must be, from the store to the report.
  private func expectKept(_ site: Site, _ record: Field.Finished, target: String, answers: Bool = true) async throws {
    #expect(record.status == 0, "\(record.errors)")
    #expect(record.output.contains("kept here and not submitted: the pings go to \(target)"), "\(record.output)")
    let sessions = try await site.sessions()
    #expect(sessions.map { $0["state"] as? String } == ["kept"])
    #expect(sessions.map { $0["target"] as? String } == [target])
    #expect(try await site.run("sessions").output.contains("\n    not submitted: \(target)"))

    let exported = try await site.run("export", ["--format", "jsonl"])
    #expect(exported.lines.count >= 2, "\(exported.errors)")
    #expect(exported.lines.allSatisfy { $0["target"] as? String == target && $0["test_uuid"] == nil })
    let answered = exported.lines.reduce(0) { $0 + ($1["pings_ok"] as? Int ?? 0) }
    #expect(answers ? answered > 10 : answered == 0, "\(answered)")
    #expect(try await site.run("export", ["--format", "jsonl", "--state", "kept"]).lines.count == exported.lines.count)
    #expect(try await site.run("export", ["--format", "jsonl", "--state", "submitted"]).lines.isEmpty)
    #expect(try await site.run("export", ["--format", "jsonl", "--state", "pending"]).lines.isEmpty)

    let report = try await site.run("report", ["--json"])
    #expect(report.status == 0 && report.output.contains("\"fences\""), "\(report.errors)")
    let submit = try await site.run("submit")
    #expect(
      (submit.status, submit.output) == (
        0, "nothing to submit; 1 session kept here and never submitted (pings.target)\n"
      ))
    #expect(try await site.sessions().map { $0["state"] as? String } == ["kept"])
  }

  /// Deletes the store, and has the next command that writes restore it from the log.
  private func expectRestored(_ site: Site, target: String) async throws {
    let before = try await site.run("export", ["--format", "jsonl"]).lines.count
    for file in ["coverage.sqlite", "coverage.sqlite-wal", "coverage.sqlite-shm"] {
      try? FileManager.default.removeItem(atPath: site.folder.file("state") + "/" + file)
    }
    let program = try site.start("record", ["--no-submit"])
    _ = try await eventually("the fences are restored") {
      try await site.sessions().contains { $0["state"] as? String == "kept" } ? () : nil
    }
    program.signal(SIGTERM)
    _ = try await program.exitStatus()
    let restored = try #require(try await site.sessions().first)
    #expect(restored["target"] as? String == target && restored["state"] as? String == "kept")
    #expect((restored["fences"] as? Int ?? 0) >= before, "\(restored)")
  }

  @Test("when the target is a plain echo service, then a drive is recorded, kept, exported, reported and restored")
  func udpEcho() async throws {
    let reflector = try await ReflectorTool(["--echo", "--echo-rate", "1000"])
    let site = try await Site(
      target: "{ host: 127.0.0.1, port: \(reflector.port), protocol: udp-echo }", keeping: [reflector.program])
    let record = try await site.record(until: "rtt_ms", 30)
    let target = "udp-echo 127.0.0.1:\(reflector.port)"
    try await expectKept(site, record, target: target)
    #expect(
      try site.log.map { try String(contentsOfFile: $0, encoding: .utf8) }?.contains(
        #""target":{"protocol":"udp-echo","host":"127.0.0.1","port":\#(reflector.port)}"#) == true)
    try await expectRestored(site, target: target)
  }

  @Test("when the target speaks RTR and shares a secret, then a drive is recorded without a control server")
  func rtr() async throws {
    let reflector = try await ReflectorTool(["--secret", "two boxes"])
    let folder = try TemporaryFolder()
    let secret = try folder.write("two boxes\n", to: "secret")
    let site = try await Site(
      target: "{ host: localhost, port: \(reflector.port), protocol: rtr, secret-file: \(secret) }",
      keeping: [reflector.program])
    let record = try await site.record(until: "rtt_ms", 30)
    try await expectKept(site, record, target: "rtr localhost:\(reflector.port)")
  }

  @Test(
    "when the target answers ICMP, then a drive is recorded, and its capture agrees with its log",
    .enabled(if: Surroundings.mayCapture, "ICMP and captures need CAP_NET_RAW"))
  func icmp() async throws {
    let site = try await Site(target: "{ host: 127.0.0.1 }")
    let packets = site.folder.file("packets")
    let record = try await site.record(until: "rtt_ms", 30, ["--capture", packets])
    try await expectKept(site, record, target: "icmp 127.0.0.1")
    try await expectVerified(site, packets)
  }

  @Test(
    "when packets of UDP echo are captured, then requests and replies are told apart, and agree with the log",
    .enabled(if: Surroundings.mayCapture, "captures need CAP_NET_RAW"))
  func capturedEcho() async throws {
    let reflector = try await ReflectorTool(["--echo", "--echo-rate", "1000"])
    let site = try await Site(
      target: "{ host: 127.0.0.1, port: \(reflector.port), protocol: udp-echo }", keeping: [reflector.program])
    let packets = site.folder.file("packets")
    let record = try await site.record(until: "rtt_ms", 30, ["--capture", packets])
    #expect(record.status == 0, "\(record.errors)")
    try await expectVerified(site, packets)
  }

  private func expectVerified(_ site: Site, _ packets: String) async throws {
    let verify = try RunningProgram.product(
      "coverage-probe",
      ["verify", try #require(site.log), "--limit", "20000", "--capture", packets + "-0001.pcap"])
    #expect(try await verify.exitStatus() == 0, "\(verify.standardOutput)\(verify.standardError)")
  }

  @Test("when the target does not answer, then the fences are dead zones; when it cannot be sent to, they are not")
  func silence() async throws {
    // A socket that nobody reads: the pings arrive, and no answer leaves.
    let silent = try DatagramReceiver()
    defer { withExtendedLifetime(silent) {} }
    let site = try await Site(target: "{ host: 127.0.0.1, port: \(silent.port), protocol: udp-echo }")
    let record = try await site.record(until: "\"error\":\"timeout\"", 20)
    try await expectKept(site, record, target: "udp-echo 127.0.0.1:\(silent.port)", answers: false)
    let dead = try await site.run("export", ["--format", "jsonl"]).lines
    #expect(dead.reduce(0) { $0 + ($1["pings_lost"] as? Int ?? 0) } >= 10)
    #expect(dead.contains { $0["pings"] as? Int ?? 0 > 0 && $0["pings_ok"] as? Int == 0 })
  }

  @Test("when pings cannot be sent to the target, then none counts as lost")
  func unsendable() async throws {
    // The kernel refuses a broadcast address to a socket without SO_BROADCAST, with EACCES.
    let site = try await Site(target: "{ host: 255.255.255.255, port: 7, protocol: udp-echo }")
    _ = try await site.record(until: "\"error\":\"unsent\"", 10)
    let fences = try await site.run("export", ["--format", "jsonl", "--state", "all"]).lines
    #expect(!fences.isEmpty)
    #expect(fences.allSatisfy { $0["pings"] as? Int == 0 && $0["pings_lost"] as? Int == 0 }, "\(fences)")
    #expect(fences.contains { $0["pings_unsent"] as? Int ?? 0 > 0 })
  }

  @Test("when a control server is set beside the target, then it gets no request of the drive")
  func noRequests() async throws {
    let (reflector, server) = (try await ReflectorTool(["--echo"]), try await ControlServerTool())
    let site = try await Site(
      target: "{ host: 127.0.0.1, port: \(reflector.port), protocol: udp-echo }",
      settings: "control-server: { url: \"\(server.url)\" }\nsubmission: { spread: 0s }",
      keeping: [reflector.program, server.program])
    let record = try await site.record(until: "rtt_ms", 20)
    #expect(record.status == 0, "\(record.errors)")
    #expect(try await site.run("submit").status == 0)
    for path in ["/settings", "/coverageRequest", "/coverageResult", "/history"] {
      #expect(try await server.requests(to: path).isEmpty, "\(path)")
    }
    #expect(try await site.sessions().map { $0["state"] as? String } == ["kept"])
  }

  @Test("when the host is examined, then pings to the target are sent in place of requests to a control server")
  func doctor() async throws {
    let reflector = try await ReflectorTool(["--echo"])
    let site = try await Site(
      target: "{ host: 127.0.0.1, port: \(reflector.port), protocol: udp-echo }", keeping: [reflector.program])
    let doctor = try await site.run("doctor")
    #expect(doctor.status == 0, "\(doctor.output)")
    let target = "udp-echo 127.0.0.1:\(reflector.port)"
    #expect(
      doctor.output.contains("drives are kept here and not submitted: the pings go to \(target)"), "\(doctor.output)")
    #expect(doctor.output.contains("pings to \(target): "), "\(doctor.output)")
  }

  @Test("when the service records to a target, then its status says that nothing is submitted")
  func service() async throws {
    let reflector = try await ReflectorTool(["--echo"])
    let site = try await Site(
      target: "{ host: 127.0.0.1, port: \(reflector.port), protocol: udp-echo }", keeping: [reflector.program])
    let agent = try site.start("agent")
    let words = "this drive is kept here and not submitted: the pings go to udp-echo 127.0.0.1:\(reflector.port)"
    _ = try await eventually("the status names the target") {
      let status = try await site.run("status")
      return status.output.contains(words) ? () : nil
    }
    let json = try await site.run("status", ["--json"])
    #expect(json.output.contains("\"target\":\"udp-echo 127.0.0.1:\(reflector.port)\""), "\(json.output)")
    _ = try await eventually("a fence is stored") {
      try await site.sessions().first?["fences"] as? Int ?? 0 >= 2 ? () : nil
    }
    #expect(try await site.run("submit").output.contains("kept here and never submitted"))
    agent.signal(SIGTERM)
    #expect(try await agent.exitStatus() == 0, "\(agent.standardError)")
    #expect(try await site.sessions().map { $0["state"] as? String } == ["kept"])
  }
}

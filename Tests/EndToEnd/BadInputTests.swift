import Foundation
import Store
import TestSupport
import Testing

/// Failures in the field: each gets one clear line, and no data is lost.
struct BadInputTests {
  /// A drive on an invented track, with the player instead of gpsd.
  private func drive(
    _ arguments: [String] = [], player: [String] = [], settings: String = ""
  ) async throws -> (field: Field, player: RunningProgram, record: RunningProgram) {
    let track = Surroundings.root.appending(path: "tools/gps-player/demo-track.csv").path
    let gps = try await GPSPlayerTool(["--gpsd"] + player + [track])
    let field = try await Field(gpsdPort: gps.port, keeping: [gps.program], settings: settings)
    return (field, gps.program, try field.start("record", arguments))
  }

  private func wait(forFences count: Int, in field: Field) async throws {
    _ = try await eventually("\(count) fences are stored") {
      try await field.sessions().compactMap { $0["fences"] as? Int }.reduce(0, +) >= count ? () : nil
    }
  }

  private func expectEverythingArrived(_ field: Field) async throws {
    let replayed = try await field.replayed().filter { $0["submittable"] as? Bool == true }
    let received = try await field.server.fences()
    let sent = received.compactMap { $0.integer("offset_ms") }
    let recorded = replayed.compactMap { $0["offset_ms"] as? Int }
    #expect(sent.count == received.count)
    #expect(sent.sorted() == recorded.sorted())
  }

  // MARK: gpsd

  @Test("when there is no gpsd, then a line says so and the drive waits for it")
  func noGPSD() async throws {
    let field = try await Field(gpsdPort: 1)
    let record = try field.start("record")
    _ = try await eventually("the line") {
      record.standardError.contains("no gpsd: cannot connect to 127.0.0.1:1: Connection refused") ? () : nil
    }
    _ = try await eventually("pings") {
      record.standardError.contains("pinging 127.0.0.1") ? () : nil
    }
    record.signal(SIGTERM)
    let status = try await record.exitStatus()
    // 69: the drive ended before the first ping had an outcome.
    #expect([0, 69].contains(status), "\(status): \(record.standardError)")
    #expect(record.standardOutput.contains("nothing to submit"))
  }

  @Test("when gpsd goes away in mid-drive, then the drive continues in the same session, and no fence is lost")
  func gpsdGoesAway() async throws {
    // At this pace the port is closed for 2 s of the drive; the client's own wait comes on top.
    let (field, player, record) = try await drive(player: ["--speed", "5", "--away", "15,25"])
    _ = try await eventually("the track is over") {
      player.standardOutput.contains("played") ? () : nil
    }
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")
    #expect(record.standardError.contains("no gpsd: gpsd closed the connection"))
    #expect(try await field.sessions().count == 1)
    try await expectEverythingArrived(field)
  }

  // MARK: Pings

  @Test("when the pings' IP version differs from the control server's address, then no drive begins")
  func impossibleFamily() async throws {
    let field = try await Field(gpsdPort: 1, settings: "pings: { ip-version: 6 }")
    let drive = try await field.run("record", ["--duration", "4s"])
    #expect(drive.status == 1)
    #expect(
      drive.errors.contains("pings.ip-version is 6, but control-server.url names the IPv4 address 127.0.0.1"),
      "\(drive.errors)")
    #expect(try await field.server.requests(to: "coverageRequest").isEmpty)
  }

  // MARK: Control server

  @Test("when the control server is down at the start, then the drive continues offline and gets its test later")
  func serverDownAtStart() async throws {
    let (field, _, record) = try await drive(player: ["--speed", "2"])
    try await field.server.setFault("reset", on: "*")
    try await wait(forFences: 3, in: field)
    #expect(record.standardError.contains("the control server"))
    try await field.server.clearFaults()
    _ = try await eventually("the test") { try await field.sessions().first?["test_uuid"] }
    try await field.waitForPings()
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")
    let offsets = try await field.server.fences().compactMap { $0.integer("offset_ms") }
    #expect(offsets.contains { $0 < 0 }, "fences from before the server's answer lie before the anchor")
    try await expectEverythingArrived(field)
  }

  @Test("when the control server is down at the stop, then the drive is kept, and a later submit sends it")
  func serverDownAtStop() async throws {
    let (field, _, record) = try await drive(player: ["--speed", "4"])
    try await wait(forFences: 3, in: field)
    try await field.waitForPings()
    try await field.server.setFault("reset", on: "coverageResult")
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 75)
    #expect(record.standardOutput.contains("kept for later (coverage-probe submit): cannot reach the control server"))
    #expect(try await field.run("submit").status == 75)
    try await field.server.clearFaults()
    #expect(try await field.run("submit").status == 0)
    try await expectEverythingArrived(field)
  }

  @Test("when a drive was never online, then submit gets a test for it afterwards")
  func neverOnline() async throws {
    let (field, _, record) = try await drive(["--no-submit"], player: ["--speed", "4"])
    try await field.server.setFault("reset", on: "*")
    try await wait(forFences: 3, in: field)
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 69, "no ping was sent")
    try await field.server.clearFaults()
    #expect(try await field.run("submit").status == 0)
    let exported = try await field.run("export", ["--format", "jsonl"]).lines
    let received = try await field.server.fences()
    #expect(exported.count >= 3)
    #expect(received.map { $0.integer("offset_ms") } == exported.map { $0["offset_ms"] as? Int })
  }

  // MARK: State directory

  @Test("when a second program uses the same state, then its error names the first program and its process")
  func secondProgram() async throws {
    let (field, _, record) = try await drive()
    try await field.waitForPings()
    let second = try await field.run("record")
    #expect(second.status == 1)
    #expect(second.errors.contains("is in use by process \(record.pid) (coverage-probe record); stop that program"))
    #expect(second.errors.split(separator: "\n").count == 1)
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0)
  }

  @Test("when the state directory cannot be used, then one line has its path and the reason")
  func unusableState() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("", to: "file")
    for command in [["record"], ["sessions"], ["submit"], ["export"]] {
      let program = try RunningProgram.product(
        "coverage-probe", command,
        environment: [
          "COVERAGE_PROBE_STATE_DIRECTORY": file + "/state", "COVERAGE_PROBE_CONTROL_SERVER_URL": "http://127.0.0.1:1",
        ])
      #expect(try await program.exitStatus() == 1)
      #expect(program.standardError.contains("cannot use state directory \(file)/state: Not a directory"))
      #expect(program.standardError.split(separator: "\n").count == 1)
    }
  }

  @Test(
    "when the disk is full, then the drive continues in memory, and all fences are written once there is room",
    .enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"))
  func diskFull() async throws {
    let folder = try TemporaryFolder()
    let disk = folder.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
    guard mount("tmpfs", disk, "tmpfs", 0, "size=1m") == 0 else {
      Issue.record("cannot mount: \(String(cString: strerror(errno)))")
      return
    }
    defer { umount2(disk, CInt(MNT_DETACH)) }
    let gps = try await GPSPlayerTool([
      "--gpsd", "--speed", "2", Surroundings.root.appending(path: "tools/gps-player/demo-track.csv").path,
    ])
    let full = try await Field(gpsdPort: gps.port, keeping: [gps.program], stateDirectory: disk + "/state")
    let drive = try full.start("record")
    try await wait(forFences: 2, in: full)
    try await full.waitForPings()
    let filler = disk + "/filler"
    try fill(filler)
    _ = try await eventually("the line") {
      drive.standardError.contains("error: cannot write to the store: the disk is full") ? () : nil
    }
    try FileManager.default.removeItem(atPath: filler)
    _ = try await eventually("it recovers") {
      drive.standardError.contains("the store can be written again") ? () : nil
    }
    drive.signal(SIGTERM)
    #expect(try await drive.exitStatus() == 0, "\(drive.standardError)")
    try await expectEverythingArrived(full)
  }

  @Test(
    "when the disk is full until after the stop, then reserved space takes the fences, and all are sent",
    .enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"))
  func diskStaysFull() async throws {
    let folder = try TemporaryFolder()
    let disk = folder.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
    guard mount("tmpfs", disk, "tmpfs", 0, "size=20m") == 0 else {
      Issue.record("cannot mount: \(String(cString: strerror(errno)))")
      return
    }
    defer { umount2(disk, CInt(MNT_DETACH)) }
    let gps = try await GPSPlayerTool([
      "--gpsd", "--speed", "2", Surroundings.root.appending(path: "tools/gps-player/demo-track.csv").path,
    ])
    let full = try await Field(gpsdPort: gps.port, keeping: [gps.program], stateDirectory: disk + "/state")
    let drive = try full.start("record")
    try await wait(forFences: 2, in: full)
    try await full.waitForPings()
    try fill(disk + "/filler")
    _ = try await eventually("the line") {
      drive.standardError.contains("the disk is full; fences use the space") ? () : nil
    }
    let before = try await full.sessions().reduce(0) { $0 + ($1["fences"] as? Int ?? 0) }
    try await wait(forFences: before + 2, in: full)
    drive.signal(SIGTERM)
    #expect(try await drive.exitStatus() == 0, "\(drive.standardError)")
    try await expectEverythingArrived(full)
  }

  // MARK: Configuration, privileges, logs

  @Test("when the configuration is wrong, then one line has the key and the expected value, and no drive begins")
  func configuration() async throws {
    let folder = try TemporaryFolder()
    for (yaml, expected) in [
      ("gpsd: { prot: 2947 }", "unknown key gpsd.prot; did you mean gpsd.port?"),
      ("gpsd: { stale-after: 5 }", "gpsd.stale-after is \"5\": expected a duration such as 250ms, 10s, 5m, 4h or 7d"),
      ("gpsd: { port: many }", "gpsd.port is \"many\": expected a port, 1 to 65535"),
      ("state-directory: \(folder.file("state"))", "control-server.url is not set"),
    ] {
      let file = try folder.write(yaml, to: "config.yaml")
      let program = try RunningProgram.product("coverage-probe", ["record", "--config", file])
      #expect(try await program.exitStatus() == 1)
      #expect(program.standardError.contains(expected), "\(program.standardError)")
      #expect(program.standardError.split(separator: "\n").count == 1)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("state")))
  }

  @Test("when the command line is wrong, then the exit status is 64")
  func usage() async throws {
    for arguments in [["record", "--duration", "5"], ["nonsense"], ["replay"], ["ping", "127.0.0.1", "-4", "-6"]] {
      let program = try RunningProgram.product("coverage-probe", arguments)
      #expect(try await program.exitStatus() == 64, "\(arguments)")
    }
  }

  @Test(
    "when echo sockets are not permitted, then one line says what is missing",
    .enabled(if: getuid() == 0 && Surroundings.program("setpriv") != nil, "needs root and setpriv"),
    .enabled(if: Surroundings.isPingGroupEmpty, "every user may ping here"))
  func privileges() async throws {
    let setpriv = try #require(Surroundings.program("setpriv"))
    let ping = try RunningProgram(
      setpriv,
      [
        "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
        Surroundings.product("coverage-probe").path, "ping", "-c", "1", "127.0.0.1",
      ])
    #expect(try await ping.exitStatus() == 1)
    #expect(ping.standardError.contains("ping_group_range"), "\(ping.standardError)")
    #expect(ping.standardError.contains("CAP_NET_RAW"))
    #expect(ping.standardError.split(separator: "\n").count == 1)
  }

  @Test(
    "when another user reads the store, then nothing is shown, and one line says which user may read it",
    .enabled(if: getuid() == 0 && Surroundings.program("setpriv") != nil, "needs root and setpriv"),
    arguments: [["sessions"], ["export", "--state", "all"]])
  func otherUser(_ command: [String]) async throws {
    let folder = try TemporaryFolder()
    do { _ = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test") }
    // Even if other users may enter the directories.
    for path in [folder.path, folder.file("state")] { chmod(path, 0o755) }
    let configuration = try folder.write("state-directory: \(folder.file("state"))\n", to: "probe.yaml")
    let asking = try RunningProgram(
      try #require(Surroundings.program("setpriv")),
      [
        "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
        Surroundings.product("coverage-probe").path,
      ] + command + ["--config", configuration])
    #expect(try await asking.exitStatus() == 1)
    #expect(asking.standardOutput.isEmpty)
    #expect(
      asking.standardError.hasSuffix("Permission denied: only the owner may read a store; run this as root\n"),
      "\(asking.standardError)")
  }

  @Test("when a drive log has malformed lines, then they are named and the rest is replayed")
  func garbageLog() async throws {
    let folder = try TemporaryFolder()
    let log = try folder.write(
      """
      {"drive":1,"started":"2026-11-20T10:00:00.000Z","initial_path":"cellular"}
      {"at":0.0,"fix":{"latitude":48.2082,"longitude":16.3738,"accuracy":5.0}}
      \u{0}\u{1}garbage
      {"at":0.1,"ping":{"rtt_ms":"fast"}}
      {"at":0.1,"ping":{"rtt_ms":31.67}}
      {"at":0.2,"weather":"rain"}
      {"at":1.0,"fix":{"latitude":95,"longitude":16.3738,"accuracy":5.0}}
      {"at":2.0,"fix":{"lati
      """, to: "drive.jsonl")
    let replay = try RunningProgram.product("coverage-probe", ["replay", log])
    #expect(try await replay.exitStatus() == 0)
    let lines = replay.standardOutput.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.first?.contains("\"pings\":1,\"pings_ok\":1,\"avg_ping_ms\":31.67") == true)
    for complaint in [
      "line 3 skipped: no JSON object", "line 4 skipped: \"ping.rtt_ms\" has the wrong type",
      "line 7 skipped: 95.0, 16.3738 is not a position on Earth", "1 event of unknown kind skipped",
      "the last line is cut off",
    ] {
      #expect(replay.standardError.contains(complaint), "\(replay.standardError)")
    }
  }
}

import Foundation
import TestSupport

/// The probe in a private network with several links, and the servers in another at their far ends: 10.9.0.1 for both. The kinds of
/// links are simulated: the links are cables, and a mount over sysfs describes them as a modem's or Wi-Fi.
struct Roads {
  let probe: NetworkNamespace
  let far: NetworkNamespace
  let folder: TemporaryFolder
  private let state: String
  private var companions: [RunningProgram] = []
  /// The address of the control server.
  private var controlHost = Roads.server

  static let server = "10.9.0.1"

  init() async throws {
    probe = try await NetworkNamespace()
    far = try await NetworkNamespace()
    folder = try TemporaryFolder()
    state = folder.file("state")
    try await far.run("ip address add \(Self.server)/32 dev lo")
  }

  /// Starts the servers and the receiver; the links must exist.
  /// - Parameters:
  ///   - pingHost: The ping server's name.
  ///   - controlName: The control server's name in the configuration.
  ///   - testSeconds: Seconds of a phase of speed tests; `nil`: there is no measurement server.
  ///   - settings: More lines of the configuration.
  mutating func open(
    pingHost: String = Roads.server, controlName: String = Roads.server, speed: Int = 3, testSeconds: Int? = nil,
    settings: String
  ) async throws {
    companions.append(try await reflector(at: Self.server))
    var options = [
      "--host", Self.server, "--port", "8080", "--secret", ReflectorTool.secret, "--ping-host", pingHost,
      "--ping-port", "4440",
    ]
    if let testSeconds {
      let measurement = try far.start(
        Surroundings.product("measurement-server"),
        ["--listen", "0.0.0.0", "--port", "5231", "--http", "--secret", "lab", "--fault", "slow=2500000"])
      _ = try await measurement.line(after: "measurement server: ")
      companions.append(measurement)
      options += [
        "--measurement-server", "\(Self.server):5231", "--measurement-secret", "lab", "--test-duration",
        "\(testSeconds)",
        "--test-threads", "2",
      ]
    }
    let server = try far.start(Surroundings.product("control-server"), options)
    _ = try await server.line(after: "control-server: listening on ")
    companions += [server, try await player(speed: speed)]
    try configure(url: "http://\(controlName):8080/RMBTControlServer", settings: settings)
  }

  /// Starts the servers and the receiver for a network with IPv6 only. The ping server's address is an IPv4 one, which NAT64 would carry.
  mutating func openIPv6(settings: String) async throws {
    companions.append(try await reflector(at: "64:ff9b::a09:1"))
    controlHost = "fd00::1"
    let server = try far.start(
      Surroundings.product("control-server"),
      [
        "--host", "fd00::1", "--port", "8080", "--secret", ReflectorTool.secret, "--ping-host-ipv6", Self.server,
        "--ping-port", "4440",
      ])
    _ = try await server.line(after: "control-server: listening on ")
    companions += [server, try await player(speed: 3)]
    try configure(url: "http://[fd00::1]:8080/RMBTControlServer", settings: settings)
  }

  private func player(speed: Int) async throws -> RunningProgram {
    let track = Surroundings.root.appending(path: "tools/gps-player/demo-track.csv").path
    let player = try probe.start(
      Surroundings.product("gps-player"), ["--gpsd", "--port", "2947", "--speed", "\(speed)", track])
    _ = try await player.line(after: "gps-player: listening on ")
    return player
  }

  private func configure(url: String, settings: String) throws {
    _ = try folder.write(
      """
      state-directory: \(state)
      control-server: { url: "\(url)", request-timeout: 5s }
      radio: { source: "fixed:4G/LTE" }
      \(settings)
      """, to: "config.yaml")
  }

  /// A ping server at the far end.
  func reflector(at address: String) async throws -> RunningProgram {
    let reflector = try far.start(
      Surroundings.product("reflector"), ["--listen", address, "--port", "4440", "--secret", ReflectorTool.secret])
    _ = try await reflector.line(after: "reflector: listening on ")
    return reflector
  }

  func start(
    _ command: String, _ arguments: [String] = [], environment: [String: String] = [:]
  ) throws -> RunningProgram {
    try probe.start(
      Surroundings.product("coverage-probe"), [command, "--config", folder.file("config.yaml")] + arguments,
      environment: environment)
  }

  /// The output of the command, as JSON Lines.
  func lines(_ command: String, _ arguments: [String]) async throws -> [[String: Any]] {
    let program = try start(command, arguments)
    _ = try await program.exitStatus()
    return try program.standardOutput.split(separator: "\n").compactMap {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }
  }

  func sessions() async throws -> [[String: Any]] {
    let listing = try start("sessions", ["--json"])
    guard try await listing.exitStatus() == 0 else { return [] }
    return try JSONSerialization.jsonObject(with: Data(listing.standardOutput.utf8)) as? [[String: Any]] ?? []
  }

  /// The tests that the control server has: the members of `/-/tests`. A shell inside the network requests them.
  func held() async throws -> [String: Any] {
    let request = "GET /RMBTControlServer/-/tests HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n"
    let script = "exec 3<>/dev/tcp/\(controlHost)/8080; printf '\(request)' >&3; cat <&3"
    let client = try far.start(URL(fileURLWithPath: "/bin/bash"), ["-ec", script])
    _ = try await client.exitStatus()
    let answer = client.standardOutput
    guard let body = answer.range(of: "\r\n\r\n") else { throw ScriptFailure(description: "answer: \(answer)") }
    return try JSONSerialization.jsonObject(with: Data(answer[body.upperBound...].utf8)) as? [String: Any] ?? [:]
  }

  /// The fences that the control server has, by test and offset.
  func fencesAtServer() async throws -> [String] {
    (try await held()["tests"] as? [[String: Any]] ?? []).flatMap { test in
      (test["fences"] as? [[String: Any]] ?? []).compactMap { fence in
        (fence["received"] as? [String: Any])?["offset_ms"].map { "\(test["uuid"] ?? "-") \($0)" }
      }
    }
  }

  /// The events of the drive log so far, without a line that is still being written.
  func events() throws -> [LoggedEvent] {
    guard let log = try? driveLog() else { return [] }
    return try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").dropFirst().compactMap { line in
      guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
        let at = (object["at"] as? NSNumber)?.doubleValue
      else { return nil }
      return LoggedEvent(at: at, members: object)
    }
  }

  func driveLog() throws -> String {
    guard let log = try driveLogs().first else { throw ScriptFailure(description: "no drive log in \(state)/drives") }
    return log
  }

  private func driveLogs() throws -> [String] {
    let logs = state + "/drives"
    return try FileManager.default.contentsOfDirectory(atPath: logs).map { logs + "/" + $0 }
  }

  /// The fences from a replay of the drive logs.
  func replayed() async throws -> [[String: Any]] {
    var fences: [[String: Any]] = []
    for log in try driveLogs() { fences += try await lines("replay", [log]).filter { $0["summary"] == nil } }
    return fences
  }

  /// Waits until `count` events after `start` match `isWanted`.
  /// - Returns: The time of the last of them, in seconds of the drive.
  @discardableResult func wait(
    for count: Int, _ what: String, after start: Double = -1, where isWanted: (LoggedEvent) -> Bool
  ) async throws -> Double {
    try await eventually("\(count) \(what)") {
      let found = try events().filter { $0.at > start && isWanted($0) }
      return found.count >= count ? found[count - 1].at : nil
    }
  }
}

/// One line of a drive log.
struct LoggedEvent: @unchecked Sendable {
  let at: Double
  let members: [String: Any]

  private var ping: [String: Any]? { members["ping"] as? [String: Any] }
  var isPing: Bool { ping != nil }
  var isAnswer: Bool { ping?["rtt_ms"] != nil }
  /// Whether the ping did not leave: lost without a network, or not measured.
  var isNotSent: Bool { ["network", "unsent"].contains(ping?["error"] as? String) }
  var isFix: Bool { members["fix"] != nil }
  var isTest: Bool { members["session"] != nil }
  var path: String? { members["path"] as? String }
}

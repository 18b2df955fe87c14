import Coverage
import Foundation
import Store
import TestSupport

/// A service with waiting drives in a private network, and the control server in another: 10.9.0.1, behind one cable. One test at
/// a time uses it.
final class Outpost: @unchecked Sendable {
  /// Whether this host can make one.
  static let isPossible =
    Surroundings.mayMakeNetworks && ["openssl", "tc"].allSatisfy { Surroundings.program($0) != nil }
  static let server = "10.9.0.1"
  static let link = "wwan0"

  let probe: NetworkNamespace
  let folder: TemporaryFolder
  private(set) var far: NetworkNamespace
  private var serverProgram: RunningProgram?
  private var serviceProgram: RunningProgram?
  private var companions: [RunningProgram] = []
  private var troublesSeen = 0
  let expected: Int
  private let isSecure: Bool

  /// - Parameters:
  ///   - host: The server's name in the URL.
  ///   - isSecure: Whether the URL is an https URL.
  ///   - drives: The number of waiting drives.
  ///   - fences: The number of fences of each drive.
  init(host: String = server, isSecure: Bool = false, drives: Int, fences: Int) async throws {
    probe = try await NetworkNamespace()
    far = try await NetworkNamespace()
    folder = try TemporaryFolder()
    expected = drives * fences
    self.isSecure = isSecure
    try await far.run("ip address add \(Self.server)/32 dev lo")
    try await probe.connect(Self.link, to: far, net: 1)
    try await probe.run("ip route add \(Self.server) via 10.1.0.1")
    _ = try folder.write(
      """
      state-directory: \(folder.file("state"))
      control-server: { url: "\(isSecure ? "https" : "http")://\(host):8080/RMBTControlServer", request-timeout: 1s,
        ca-file: \(isSecure ? folder.file("authority.pem") : "null") }
      gpsd: { host: 127.0.0.1, port: 9 }
      submission: { spread: 0s, backoff: 1s, backoff-max: 2s }
      agent: { record: command, resend-interval: 10s }
      """, to: "config.yaml")
    try Self.record(drives, of: fences, in: folder.file("state"))
  }

  private static func record(_ drives: Int, of fences: Int, in state: String) throws {
    let store = try DriveStore(directory: StateDirectory(path: state), purpose: "a test")
    let now = WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
    for drive in 0..<drives {
      var recorder = try DriveRecorder(store, started: now.later(by: .seconds(2000 * (drive - drives))), log: nil)
      try recorder.save(
        sessions: [Session(number: 0, started: .start, finalized: .seconds(1900))],
        fences: (0..<fences).map { .sample(number: $0, entered: Double($0) * 4) }, seen: .seconds(1900))
      try recorder.end(at: .seconds(1900), reason: .user)
    }
  }

  // MARK: The two ends

  /// Starts the control server with its earlier database.
  /// - Parameter faults: Values for `--fault`.
  func startServer(_ faults: [String] = [], options: [String] = []) async throws {
    let program = try far.start(
      Surroundings.product("control-server"),
      ["--host", Self.server, "--port", "8080", "--database", folder.file("server.sqlite")] + options
        + faults.flatMap { ["--fault", $0] })
    serverProgram = program
    _ = try await program.line(after: "control-server: listening on ")
  }

  func killServer() async throws {
    serverProgram?.signal(SIGKILL)
    _ = try await serverProgram?.exitStatus()
  }

  /// Connects another server with the same address, behind another cable that the route now uses.
  func connectImpostor(_ faults: [String]) async throws {
    let other = try await NetworkNamespace()
    try await other.run("ip address add \(Self.server)/32 dev lo")
    try await probe.connect("wlan0", to: other, net: 2)
    try await probe.run("ip route replace \(Self.server) via 10.2.0.1")
    let program = try other.start(
      Surroundings.product("control-server"),
      ["--host", Self.server, "--port", "8080"] + faults.flatMap { ["--fault", $0] })
    companions.append(program)
    _ = try await program.line(after: "control-server: listening on ")
  }

  /// Cuts the cable at the far end and kills the server, of which only the database stays: no connection is closed.
  func loseFarEnd() async throws {
    try await far.run("ip link set far-\(Self.link) down")
    try await killServer()
  }

  /// Starts the far end again, without the old connections.
  func rebootFarEnd() async throws {
    let new = try await NetworkNamespace()
    try await far.run("ip link set far-\(Self.link) netns \(new.pid)")
    try await new.run(
      """
      ip address add \(Self.server)/32 dev lo
      ip address add 10.1.0.1/24 dev far-\(Self.link)
      ip link set far-\(Self.link) up
      """)
    far = new
    try await startServer()
  }

  func startService() throws { serviceProgram = try start("agent") }

  private func start(_ command: String, _ arguments: [String] = []) throws -> RunningProgram {
    try probe.start(
      Surroundings.product("coverage-probe"), [command, "--config", folder.file("config.yaml")] + arguments)
  }

  var log: String { serviceProgram?.standardError ?? "" }

  // MARK: Observations

  /// Waits until the service has met `count` more troubles.
  func waitForTrouble(_ count: Int = 1) async throws {
    _ = try await eventually("the service is in trouble") {
      log.split(separator: "\n").filter { $0.contains("pass ends: ") || $0.contains("moves behind the others: ") }.count
        >= troublesSeen + count ? () : nil
    }
    troublesSeen += count
  }

  /// Waits until the server has `count` requests to `path`.
  func waitForRequests(_ count: Int, to path: String) async throws {
    _ = try await eventually("\(count) requests to \(path)") {
      try await ask("GET", "requests")["requests"].map { $0.filter { $0["path"] as? String == path } }?.count ?? 0
        >= count ? () : nil
    }
  }

  func clearFaults() async throws { _ = try await ask("DELETE", "faults") }

  /// How often the server has each fence, by the time of its entry.
  func received() async throws -> [Int: Int] {
    let tests = try await ask("GET", "tests")["tests"] ?? []
    return tests.flatMap { $0["fences"] as? [[String: Any]] ?? [] }.reduce(into: [:]) { counts, fence in
      let entered = (fence["received"] as? [String: Any])?["timestamp_microseconds"] as? Int
      counts[entered ?? -1, default: 0] += 1
    }
  }

  /// - Returns: The lists of the answer, by their names; empty while the server cannot be reached.
  private func ask(_ method: String, _ what: String) async throws -> [String: [[String: Any]]] {
    let request =
      "\(method) /RMBTControlServer/-/\(what) HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n"
    let address = "\(Self.server):8080"
    let script =
      isSecure
      ? "printf '\(request)' | openssl s_client -quiet -connect \(address) 2>/dev/null"
      : "exec 3<>/dev/tcp/\(address.replacing(":", with: "/")); printf '\(request)' >&3; cat <&3"
    let client = try far.start(URL(fileURLWithPath: "/bin/bash"), ["-c", script])
    _ = try await client.exitStatus()
    let answer = client.standardOutput
    guard let body = answer.range(of: "\r\n\r\n") else { return [:] }
    let object = try JSONSerialization.jsonObject(with: Data(answer[body.upperBound...].utf8)) as? [String: Any]
    return object?.compactMapValues { $0 as? [[String: Any]] } ?? [:]
  }

  /// Whether the server has every fence exactly once.
  func hasAllOnce() async throws -> Bool {
    let received = try await received()
    return received.count == expected && received.values.allSatisfy { $0 == 1 }
  }

  /// The output of a command, which the service executes.
  func run(_ command: String, _ arguments: [String] = []) async throws -> String {
    let program = try start(command, arguments)
    let status = try await program.exitStatus()
    return status == 0 ? program.standardOutput : "exit status \(status): \(program.standardError)"
  }

  func stopService() async throws -> Int32? {
    serviceProgram?.signal(SIGTERM)
    return try await serviceProgram?.exitStatus(within: .seconds(20))
  }
}

import Foundation
import TestSupport
import Testing

/// The parts of a drive, of which only the sky is simulated: a receiver's recording, Debian's gpsd, the ping server and the control
/// server, all on loopback, and the program itself.
struct Field {
  let folder: TemporaryFolder
  let server: ControlServerTool
  let reflector: ReflectorTool
  let configuration: String
  private let state: String
  /// Programs that feed the drive and must live as long as the field.
  private let companions: [AnyObject & Sendable]

  /// - Parameters:
  ///   - gpsdPort: gpsd's port in the configuration.
  ///   - companions: Objects that must live as long as the field, such as programs.
  ///   - settings: More lines of the configuration.
  ///   - stateDirectory: The state directory; by default in the test's folder.
  ///   - reflectorOptions: Faults of the ping server.
  ///   - serverOptions: More options of the control server.
  init(
    gpsdPort: UInt16, keeping companions: [AnyObject & Sendable] = [], settings: String = "",
    stateDirectory: String? = nil, reflectorOptions: [String] = [], serverOptions: [String] = []
  ) async throws {
    self.companions = companions
    folder = try TemporaryFolder()
    state = stateDirectory ?? folder.file("state")
    reflector = try await ReflectorTool(["--secret", ReflectorTool.secret] + reflectorOptions)
    server = try await ControlServerTool(
      ["--secret", ReflectorTool.secret, "--ping-port", "\(reflector.port)"] + serverOptions)
    configuration = try folder.write(
      """
      state-directory: \(state)
      control-server: { url: "\(server.url)", request-timeout: 5s }
      gpsd: { host: 127.0.0.1, port: \(gpsdPort) }
      network: { source: fixed-cellular }
      radio: { source: "fixed:4G/LTE" }
      \(settings)
      """, to: "config.yaml")
  }

  func start(_ command: String, _ arguments: [String] = []) throws -> RunningProgram {
    try .product("coverage-probe", [command, "--config", configuration] + arguments)
  }

  /// Runs a command to its end.
  func run(_ command: String, _ arguments: [String] = []) async throws -> Finished {
    let program = try start(command, arguments)
    let status = try await program.exitStatus()
    return Finished(status: status, output: program.standardOutput, errors: program.standardError)
  }

  /// Records until the drive log has `count` pings, even on a busy machine.
  func record(pings count: Int, _ arguments: [String] = []) async throws -> Finished {
    let before = (try? driveLogs()) ?? []
    let program = try start("record", arguments)
    try await waitForPings(count, exceptIn: before)
    program.signal(SIGTERM)
    let status = try await program.exitStatus()
    return Finished(status: status, output: program.standardOutput, errors: program.standardError)
  }

  /// Waits until a drive log has `count` pings: a drive that ends before the outcome of its first ping exits with 69.
  func waitForPings(_ count: Int = 1, exceptIn earlier: [String] = []) async throws {
    _ = try await eventually("\(count) pings are logged") {
      let logs = ((try? driveLogs()) ?? []).filter { !earlier.contains($0) }
      return logs.contains { log in
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.ranges(of: "\"ping\":").count >= count
      } ? () : nil
    }
  }

  struct Finished {
    let status: Int32
    let output: String
    let errors: String

    /// The output as JSON Lines.
    var lines: [[String: Any]] {
      output.split(separator: "\n").compactMap {
        (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
      }
    }
  }

  /// The fences from a replay of the drive log.
  func replayed() async throws -> [[String: Any]] {
    let replay = try RunningProgram.product("coverage-probe", ["replay", try driveLog()])
    _ = try await replay.exitStatus()
    return Finished(status: 0, output: replay.standardOutput, errors: "").lines.filter { $0["summary"] == nil }
  }

  /// The socket of a service with this configuration.
  var socket: String { state + "/agent.sock" }

  func driveLog() throws -> String { try driveLogs().first ?? "none" }

  func driveLogs() throws -> [String] {
    let logs = state + "/drives"
    return try FileManager.default.contentsOfDirectory(atPath: logs).map { logs + "/" + $0 }
  }

  func sessions() async throws -> [[String: Any]] {
    let listing = try await run("sessions", ["--json"])
    // The first drive creates the directory.
    guard listing.status == 0 else { return [] }
    return try JSONSerialization.jsonObject(with: Data(listing.output.utf8)) as? [[String: Any]] ?? []
  }
}

/// Writes until there is no room for another byte.
func fill(_ path: String) throws {
  try Data().write(to: URL(fileURLWithPath: path))
  let filling = try #require(FileHandle(forWritingAtPath: path))
  for size in [65_536, 4096, 512, 64, 1] {
    let piece = Data(count: size)
    while (try? filling.write(contentsOf: piece)) != nil {}
  }
  try filling.close()
}

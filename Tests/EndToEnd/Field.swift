import Foundation
import TestSupport

/// Everything that a drive needs, with nothing simulated but the sky: a receiver's recording, Debian's gpsd, the ping server
/// and the control server, all on loopback, and the program itself.
struct Field {
  let folder: TemporaryFolder
  let server: ControlServerTool
  let reflector: ReflectorTool
  let configuration: String

  /// - Parameters:
  ///   - gpsdPort: Where the configuration says that gpsd is.
  ///   - reflectorFaults: Arguments of the reflector besides its secret.
  ///   - settings: More lines of the configuration.
  init(gpsdPort: UInt16, reflectorFaults: [String] = [], settings: String = "") async throws {
    folder = try TemporaryFolder()
    reflector = try await ReflectorTool(["--secret", ReflectorTool.secret] + reflectorFaults)
    server = try await ControlServerTool(["--secret", ReflectorTool.secret, "--ping-port", "\(reflector.port)"])
    configuration = try folder.write(
      """
      state-directory: \(folder.file("state"))
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

  /// The fences that the drive's log gives when it is replayed.
  func replayed() async throws -> [[String: Any]] {
    let replay = try RunningProgram.product("coverage-probe", ["replay", try driveLog()])
    _ = try await replay.exitStatus()
    return Finished(status: 0, output: replay.standardOutput, errors: "").lines.filter { $0["summary"] == nil }
  }

  func driveLog() throws -> String {
    let logs = folder.file("state/drives")
    return logs + "/" + (try FileManager.default.contentsOfDirectory(atPath: logs).first ?? "none")
  }

  func sessions() async throws -> [[String: Any]] {
    let listing = try await run("sessions", ["--json"])
    return try JSONSerialization.jsonObject(with: Data(listing.output.utf8)) as? [[String: Any]] ?? []
  }
}

/// Debian's gpsd, fed by the player with a receiver's recording.
struct Sky {
  let player: GPSPlayerTool
  let gpsd: RunningProgram
  let port: UInt16

  static let gpsdProgram = Surroundings.program("gpsd")

  init(_ fixture: String, speed: Int) async throws {
    player = try await GPSPlayerTool(["--feed", "--speed", "\(speed)", Surroundings.fixture("gpsd/\(fixture)").path])
    port = try freePort()
    guard let program = Self.gpsdProgram else { throw CocoaError(.fileNoSuchFile) }
    gpsd = try RunningProgram(program, ["-N", "-S", "\(port)", "tcp://127.0.0.1:\(player.port)"])
  }

  /// Waits until the recording is over.
  func isOver() async throws {
    try await eventually(within: .seconds(60), "the recording is over") {
      player.program.standardOutput.contains("played") || player.program.standardError.contains("played") ? () : nil
    }
  }
}

/// A TCP port that nobody uses just now.
func freePort() throws -> UInt16 {
  let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = inet_addr("127.0.0.1")
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let bound = withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
    }
  }
  guard bound else { throw POSIXError(.EADDRINUSE) }
  return UInt16(bigEndian: address.sin_port)
}

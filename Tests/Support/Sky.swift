import Foundation

/// Debian's gpsd, fed by the player with a receiver's recording (docs/protocol.md, 4.6).
public struct Sky: Sendable {
  public let port: UInt16
  private let player: GPSPlayerTool
  private let gpsd: RunningProgram

  /// `nil` where gpsd is not installed.
  public static let gpsdProgram = Surroundings.program("gpsd")

  /// - Parameter pace: Arguments of the player, e.g. `--speed 8`.
  public init(_ fixture: String, pace: [String]) async throws {
    player = try await GPSPlayerTool(["--feed"] + pace + [Surroundings.fixture("gpsd/\(fixture)").path])
    port = try freePort()
    guard let program = Self.gpsdProgram else { throw CocoaError(.fileNoSuchFile) }
    gpsd = try RunningProgram(program, ["-N", "-S", "\(port)", "tcp://127.0.0.1:\(player.port)"])
  }

  public var programs: [RunningProgram] { [player.program, gpsd] }

  /// Waits until the recording is over.
  public func isOver() async throws {
    _ = try await eventually("the recording is over") {
      player.program.standardOutput.contains("played") ? () : nil
    }
  }

  /// Kills gpsd, as in a crash.
  public func kill() async throws {
    gpsd.signal(SIGKILL)
    _ = try await gpsd.exitStatus()
  }
}

/// A free TCP port, outside the range from which the kernel assigns ports.
public func freePort() throws -> UInt16 {
  for _ in 0..<100 {
    let port = UInt16.random(in: 20_000..<32_000)
    if isFree(port) { return port }
  }
  throw POSIXError(.EADDRINUSE)
}

private func isFree(_ port: UInt16) -> Bool {
  let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = inet_addr("127.0.0.1")
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
    }
  }
}

import Foundation

/// A private network and mount table for a test: a process that holds the namespaces, and the programs in them. The kernel removes
/// them with the process.
public final class NetworkNamespace: Sendable {
  private let holder: RunningProgram

  /// Only loopback, and no IPv6, so that links carry only packets of the test's programs.
  public init() async throws {
    let script = """
      for which in all default; do echo 1 >/proc/sys/net/ipv6/conf/$which/disable_ipv6 2>/dev/null || true; done
      ip link set lo up && echo ready && exec sleep 300
      """
    holder = try RunningProgram(try Self.tool("unshare"), ["--net", "--mount", "sh", "-c", script])
    _ = try await holder.line(after: "ready")
  }

  public var pid: Int32 { holder.pid }

  /// Starts a program in the namespaces.
  public func start(
    _ program: URL, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> RunningProgram {
    try RunningProgram(
      try Self.tool("nsenter"), ["-t", "\(pid)", "-n", "-m", program.path] + arguments, environment: environment)
  }

  /// Runs a shell script in the namespaces, to its end.
  /// - Returns: The script's output.
  /// - Throws: ``ScriptFailure`` when one of its commands fails.
  @discardableResult public func run(_ script: String) async throws -> String {
    let shell = try start(URL(fileURLWithPath: "/bin/sh"), ["-ec", script])
    guard try await shell.exitStatus() == 0 else {
      throw ScriptFailure(description: "\(script): \(shell.standardError)")
    }
    return shell.standardOutput
  }

  /// A cable to another network, up on both sides, with the addresses 10.`net`.0.2 here and 10.`net`.0.1 there.
  /// - Parameter preparing: Commands to run before it is up.
  public func connect(
    _ name: String, to other: NetworkNamespace, net: Int, preparing: String = "true"
  ) async throws {
    try await run(
      """
      ip link add \(name) type veth peer name far-\(name) netns \(other.pid)
      ip address add 10.\(net).0.2/24 dev \(name)
      \(preparing)
      ip link set \(name) up
      """)
    try await other.run("ip address add 10.\(net).0.1/24 dev far-\(name) && ip link set far-\(name) up")
  }

  /// The packets sent by a link so far.
  public func packetsSent(by name: String) async throws -> Int {
    let line = try await run("cat /proc/net/dev").split(separator: "\n")
      .map { $0.split(whereSeparator: { $0 == " " || $0 == ":" }) }.first { $0.first.map(String.init) == name }
    // The name, eight receive counters, bytes sent, packets sent (proc_net(5)).
    guard let line, line.count > 10, let packets = Int(line[10]) else {
      throw ScriptFailure(description: "no packets of \(name)")
    }
    return packets
  }

  private static func tool(_ name: String) throws -> URL {
    guard let tool = Surroundings.program(name) else { throw ScriptFailure(description: "there is no \(name)") }
    return tool
  }
}

public struct ScriptFailure: Error, CustomStringConvertible {
  public let description: String

  public init(description: String) { self.description = description }
}

extension Surroundings {
  /// Whether tests can make networks: CAP_SYS_ADMIN, CAP_NET_ADMIN, and the programs for it.
  public static let mayMakeNetworks =
    mayMount && has(capability: 12) && ["ip", "unshare", "nsenter"].allSatisfy { program($0) != nil }
}

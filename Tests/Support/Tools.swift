import Foundation

/// The control server tool, run for one test.
public struct ControlServerTool: Sendable {
  public let program: RunningProgram
  /// The value for `control-server.url`.
  public let url: String

  public init(_ arguments: [String] = []) async throws {
    program = try .product("control-server", ["--port", "0"] + arguments)
    url = try await program.line(after: "control-server: listening on ")
  }

  /// The tests that it has.
  public func tests() async throws -> [[String: Any]] {
    let body = try await get("/-/tests")
    return (try JSONSerialization.jsonObject(with: body) as? [String: Any])?["tests"] as? [[String: Any]] ?? []
  }

  /// The speed tests that it granted, oldest first.
  public func speedTests() async throws -> [[String: Any]] {
    let body = try await get("/-/tests")
    return (try JSONSerialization.jsonObject(with: body) as? [String: Any])?["speed_tests"] as? [[String: Any]] ?? []
  }

  /// The fences that it accepted, as received, of all tests.
  public func fences() async throws -> [ReceivedFence] {
    try await tests().flatMap { test in
      (test["fences"] as? [[String: Any]] ?? []).compactMap { fence in
        (fence["received"] as? [String: Any]).map { ReceivedFence(test: test["uuid"] as? String ?? "", members: $0) }
      }
    }
  }

  /// The requests to `path` that it got, oldest first.
  public func requests(to path: String) async throws -> [[String: Any]] {
    let body = try await get("/-/requests")
    let object = try JSONSerialization.jsonObject(with: body)
    let all = object as? [[String: Any]] ?? (object as? [String: Any])?["requests"] as? [[String: Any]] ?? []
    return all.filter { ($0["path"] as? String)?.hasSuffix(path) == true }
  }

  /// Makes the next `count` requests to `path` fail.
  public func setFault(_ fault: String, on path: String, count: Int? = nil) async throws {
    var order: [String: Any] = ["path": path, "fault": fault]
    order["count"] = count
    var request = URLRequest(url: try address("/-/faults"))
    request.httpMethod = "POST"
    request.httpBody = try JSONSerialization.data(withJSONObject: order)
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    _ = try await HTTP.data(for: request)
  }

  public func clearFaults() async throws {
    var request = URLRequest(url: try address("/-/faults"))
    request.httpMethod = "DELETE"
    _ = try await HTTP.data(for: request)
  }

  private func get(_ path: String) async throws -> Data { try await HTTP.data(for: URLRequest(url: address(path))) }

  private func address(_ path: String) throws -> URL {
    guard let url = URL(string: url + path) else { throw URLError(.badURL) }
    return url
  }
}

/// One fence as a control server received it.
public struct ReceivedFence: @unchecked Sendable {
  public let test: String
  public let members: [String: Any]

  public func number(_ key: String) -> Double? { (members[key] as? NSNumber)?.doubleValue }
  public func integer(_ key: String) -> Int? { (members[key] as? NSNumber)?.intValue }
  public func text(_ key: String) -> String? { members[key] as? String }
  public var location: [String: Any] { members["location"] as? [String: Any] ?? [:] }
}

/// The ping server tool, run for one test.
public struct ReflectorTool: Sendable {
  public let program: RunningProgram
  public let port: UInt16

  public static let secret = "demo-secret"

  public init(_ arguments: [String] = ["--secret", Self.secret]) async throws {
    program = try .product("reflector", ["--port", "0"] + arguments)
    let address = try await program.line(after: "reflector: listening on 127.0.0.1:")
    port = UInt16(address) ?? 0
  }
}

/// The measurement server tool, run for one test: RMBThttp with a secret, and 20 Mbit/s for each connection, which leaves the
/// processors to other tests.
public struct MeasurementServerTool: Sendable {
  public let program: RunningProgram
  /// Options that make the control server tool grant short tests of this server, with two connections.
  public let controlServerOptions: [String]

  /// - Parameter withQoS: Also serves QoS tests and their DNS.
  public init(_ arguments: [String] = [], withQoS: Bool = false) async throws {
    program = try .product(
      "measurement-server",
      ["--http", "--secret", "lab", "--fault", "slow=2500000"]
        + (withQoS ? ["--qos-port", "0", "--qos-dns-port", "0"] : []) + arguments)
    var options = [
      "--measurement-server", try await program.line(after: "measurement server: "), "--measurement-secret", "lab",
      "--test-duration", "1", "--test-threads", "2",
    ]
    if withQoS {
      let ports = try await program.line(after: "QoS UDP ports: ").split(separator: " ").map(String.init)
      options += [
        "--qos-server", try await program.line(after: "QoS server: "), "--qos-call-port", ports.first ?? "",
        "--qos-resolver", try await program.line(after: "QoS resolver: "),
        // Below the kernel's client ports, and random, so that they differ from a parallel test's.
        "--qos-first-port", "\(Int.random(in: 2_000...6_000) * 5)",
      ]
    }
    controlServerOptions = options
  }
}

/// The GPS player tool, run for one test.
public struct GPSPlayerTool: Sendable {
  public let program: RunningProgram
  public let port: UInt16

  public init(_ arguments: [String]) async throws {
    program = try .product("gps-player", ["--port", "0"] + arguments)
    let address = try await program.line(after: "gps-player: listening on ")
    port = UInt16(address.split(separator: ":").last ?? "") ?? 0
  }
}

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

enum HTTP {
  static func data(for request: URLRequest) async throws -> Data {
    let (data, response) = try await URLSession.shared.data(for: request)
    guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
    return data
  }
}

import Foundation
import TestSupport

@testable import control_server

/// The endpoints of a server with a measurement server and a QoS server, without a network, and one registered client.
struct LabServer {
  static let measurement = MeasurementServer(
    address: HostAndPort(host: "192.0.2.1", port: 5231), secret: "testsecret", testDuration: 2, testThreads: 5)

  let endpoints: Endpoints
  let client: String

  init(measurement: MeasurementServer? = Self.measurement, qosServer: String? = "127.0.0.1:5233") async throws {
    var options = ServerOptions(
      secrets: ["s"], pingHost: "127.0.0.1", pingHostIPv6: "::1", pingPort: 4440, maxSessionSeconds: 14_400,
      maxMeasurementSeconds: 3_600, trustRealIP: false)
    options.measurement = measurement
    options.qos = qosServer.flatMap(HostAndPort.init(argument:)).map {
      QoSPlaces(server: $0, callPort: 5061, resolver: "127.0.0.1:5300")
    }
    endpoints = Endpoints(store: try Store(path: ":memory:"), options: options)
    client = try await endpoints.store.createClient()
  }

  func call(_ name: String, _ body: JSONValue) async throws -> JSONValue {
    guard let peer = PeerAddress("192.0.2.7") else { throw Refusal.format("no peer") }
    let answer = try await endpoints.carryOut(
      name, path: "", Call(peer: peer, body: Array(body.text.utf8), base: "http://lab"))
    return try JSONParser.parse(Array(answer.body.utf8))
  }

  /// A recorded body in which the members of `replaced` replace those of the same name; null removes one.
  static func fixture(_ name: String, _ replaced: [String: JSONValue] = [:]) throws -> JSONValue {
    let bytes = try Data(contentsOf: Surroundings.fixture("speedtest/\(name).json"))
    guard case .object(let members) = try JSONParser.parse(Array(bytes)) else { throw Refusal.format("no object") }
    let kept = members.filter { replaced[$0.key] == nil }
    let new = replaced.filter { $0.value != .null }.map { JSONValue.Member(key: $0.key, value: $0.value) }
    return .object(kept + new)
  }

  /// The answer to a recorded request for a test, as this client.
  func testRequest(_ name: String = "java", _ replaced: [String: JSONValue] = [:]) async throws -> JSONValue {
    let body = try Self.fixture(
      "\(name)-testRequest", ["uuid": .string(client)].merging(replaced) { $1 })
    return try await call("testRequest", body)
  }

  /// A recorded result, for the test with this token.
  func result(_ name: String = "java", token: JSONValue?, _ replaced: [String: JSONValue] = [:]) throws -> JSONValue {
    let own: [String: JSONValue] = ["client_uuid": .string(client), "test_token": token ?? .null]
    return try Self.fixture("\(name)-result", own.merging(replaced) { $1 })
  }

  /// The speed tests of the read-back.
  func speedTests() async throws -> [JSONValue] {
    guard case .array(let tests) = try await endpoints.store.tests()["speed_tests"] else { return [] }
    return tests
  }
}

import Foundation
import OrderedJSON
import TestSupport
import Testing

@testable import SpeedTest

/// tools/measurement-server with its QoS part, for one test.
struct QoSLab {
  let server: RunningProgram
  let port: UInt16
  /// The UDP ports that are always open.
  let udpPorts: [UInt16]

  init(_ arguments: [String] = []) async throws {
    server = try .product("measurement-server", ["--qos-port", "0"] + arguments)
    let address = try await server.line(after: "QoS server: ")
    port = try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
    udpPorts = try await server.line(after: "QoS UDP ports: ").split(separator: " ").compactMap { UInt16($0) }
  }

  /// The lines that clients wrote, with their connection: `1: TOKEN ...`.
  var commands: [String] {
    server.standardOutput.split(separator: "\n").filter {
      $0.hasPrefix("QoS ") && $0.dropFirst(4).first?.isNumber == true
    }
    .map { String($0.dropFirst(4)) }
  }

  /// Objectives of this server, all values as texts.
  func objectives(_ tests: [(type: String, values: [String: String])]) throws -> QoSObjectives {
    var types: [String: [[String: String]]] = [:]
    for (index, test) in tests.enumerated() {
      let common = [
        "qos_test_uid": "\(index + 1)", "concurrency_group": "100", "server_addr": "127.0.0.1",
        "server_port": "\(port)",
        "timeout": "3000000000",
      ]
      types[test.type, default: []].append(common.merging(test.values) { $1 })
    }
    return try QoSObjectives(try JSONSerialization.data(withJSONObject: ["objectives": types]))
  }

  static let token = "3b1f27a0-cbb0-4054-b967-070f8045f891_1795220163_T8Xabc+TiY2DNmFD5YP6moVw9gw="

  func plan(_ tests: [(type: String, values: [String: String])], token: String = Self.token) throws -> QoSPlan {
    var plan = QoSPlan(objectives: try objectives(tests), token: try MeasurementToken(token))
    (plan.encryption, plan.access.family) = (.never, .ipv4)
    return plan
  }

  /// A short call: 25 packets in half a second.
  func call(_ values: [String: String] = [:]) -> (type: String, values: [String: String]) {
    (
      "voip",
      [
        "out_port": "\(udpPorts[0])", "call_duration": "500000000", "delay": "20000000", "sample_rate": "8000",
        "bits_per_sample": "8", "payload": "8", "buffer": "100000000",
      ].merging(values) { $1 }
    )
  }
}

extension QoSOutcome {
  /// A member of the result of a test.
  func value(_ uid: Int64, _ name: String) -> JSON? {
    results.first { $0.uid == uid }?.members.first { $0.key == name }?.value
  }

  func number(_ uid: Int64, _ name: String) -> Int64? {
    if case .integer(let number) = value(uid, name) { number } else { nil }
  }
}

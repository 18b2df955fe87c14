extension Endpoints {
  /// Carries out a request.
  /// - Throws: `Refusal` where the server's rules refuse it.
  func carryOut(_ name: String, path: String, _ call: Call) async throws -> Answer {
    switch name {
    case "settings": try await settings(call)
    case "coverageRequest": try await coverageRequest(call)
    case "coverageResult": try await coverageResult(call)
    case "history": try await history(call)
    case "ip": try await ip(call)
    case "testRequest": try await testRequest(call)
    case "result": try await speedResult(call)
    case "resultUpdate": try await resultUpdate(call)
    case "qosTestRequest": try await qosTestRequest(call)
    case "resultQoS": try await resultQoS(call)
    default: try await openTest(String(path.split(separator: "/").last ?? ""))
    }
  }
}

/// POST /coverageResult.
extension Endpoints {
  func coverageResult(_ call: Call) async throws -> Answer {
    let result = try CoverageResult(Fields(body: call.body), body: call.text)
    try await store.accept(result, peer: call.peer)
    return .json([:])
  }
}

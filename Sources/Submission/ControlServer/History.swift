import OrderedJSON

extension ControlServerClient {
  /// Requests a page of the tests for which the server has fences, newest first (/history).
  /// - Parameters:
  ///   - offset: The number of entries to skip.
  ///   - limit: The largest number of entries; the server may send fewer.
  public func history(
    clientUUID: String, offset: Int, limit: Int
  ) async throws(ServerFailure) -> HistoryPage {
    let body = try await post(
      "history",
      .object(
        JSON.members([
          "uuid": .string(clientUUID),
          "result_limit": .integer(Int64(limit)),
          "result_offset": .integer(Int64(offset)),
          "devices": .array([]),
          "networks": .array([]),
          // Without `include_failed_tests`: it takes precedence and leaves out tests with fences.
          "include_coverage_fences": true,
        ]) + device.members), clientUUID: clientUUID)
    return try HistoryPage(body)
  }
}

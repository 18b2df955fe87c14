import Coverage
import Foundation
import OrderedJSON

/// A test with fences as the server's history lists it (spec 4.6).
public struct HistoryItem: Hashable, Sendable {
  public let testUUID: String
  /// What the client said in its request for the test, in milliseconds since the epoch.
  public let time: Int64?
  /// How many fences the server holds for it.
  public let fences: Int

  public init(testUUID: String, time: Int64?, fences: Int) {
    self.testUUID = testUUID
    self.time = time
    self.fences = fences
  }
}

extension ControlServerClient {
  /// A page of the tests whose fences the server holds, newest first.
  public func history(
    clientUUID: String, offset: Int, limit: Int
  ) async throws(ServerFailure) -> [HistoryItem] {
    let body = try await post(
      "history",
      .object(
        JSON.members([
          "uuid": .string(clientUUID),
          "result_limit": .integer(Int64(limit)),
          "result_offset": .integer(Int64(offset)),
          "devices": .array([]),
          "networks": .array([]),
          // Not `include_failed_tests`: it takes precedence, and leaves tests with fences out.
          "include_coverage_fences": true,
        ]) + device.members), clientUUID: clientUUID)
    return try HistoryItem.list(body)
  }
}

extension HistoryItem {
  /// The tests that an answer to /history lists; entries that name none are left out.
  static func list(_ body: Data) throws(ServerFailure) -> [HistoryItem] {
    do {
      return try JSONDecoder().decode(HistoryAnswer.self, from: body).history.compactMap(\.item)
    } catch {
      throw .unusableAnswer("the answer to /history holds no history")
    }
  }
}

private struct HistoryAnswer: Decodable {
  struct Entry: Decodable {
    let test_uuid: String?
    let time: NumberOrText?
    let fencesCount: NumberOrText?

    /// `nil` for an entry that names no test.
    var item: HistoryItem? {
      guard let test_uuid else { return nil }
      return HistoryItem(
        testUUID: test_uuid, time: time?.number, fences: fencesCount?.number.flatMap { Int(exactly: $0) } ?? 0)
    }
  }

  let history: [Entry]
}

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

/// A page of the history.
public struct HistoryPage: Hashable, Sendable {
  /// How many entries the server gave, those without a test among them: the next page begins behind them.
  public let entries: Int
  public let items: [HistoryItem]

  public init(entries: Int, items: [HistoryItem]) {
    self.entries = entries
    self.items = items
  }
}

extension ControlServerClient {
  /// A page of the tests whose fences the server holds, newest first. The server may give fewer than `limit`.
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
          // Not `include_failed_tests`: it takes precedence, and leaves tests with fences out.
          "include_coverage_fences": true,
        ]) + device.members), clientUUID: clientUUID)
    return try HistoryPage(body)
  }
}

extension HistoryPage {
  /// Reads an answer to /history; entries that name no test are counted only.
  init(_ body: Data) throws(ServerFailure) {
    do {
      let answer = try JSONDecoder().decode(HistoryAnswer.self, from: body)
      self.init(entries: answer.history.count, items: answer.history.compactMap(\.item))
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

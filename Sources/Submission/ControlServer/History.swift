import Foundation
import OrderedJSON

extension ControlServerClient {
  /// Requests a page of the tests for which the server has fences, newest first (/history).
  /// - Parameters:
  ///   - offset: The number of entries to skip.
  ///   - limit: The largest number of entries; the server may send fewer.
  func history(
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

/// A test in the server's history of tests with fences (docs/protocol.md, 3.6).
struct HistoryItem: Hashable, Sendable {
  let testUUID: String
  /// The `time` of the client's request for the test, in milliseconds since the epoch; `nil` when the server gives none.
  let time: Int64?
  /// The number of fences that the server has for the test; `nil` when it gives none that can be read.
  let fences: Int?

  /// The entry with more fences; an unknown number counts as most.
  static func fuller(_ one: HistoryItem, _ other: HistoryItem) -> HistoryItem {
    (one.fences ?? .max) > (other.fences ?? .max) ? one : other
  }
}

/// A page of the server's history.
struct HistoryPage: Hashable, Sendable {
  /// The number of entries that the server sent, including those without a test. The next page begins behind them.
  let entries: Int
  /// The entries with a test, newest first.
  let items: [HistoryItem]
}

extension HistoryPage {
  /// Reads an answer to /history.
  /// - Throws: ``ServerFailure/unusableAnswer(_:)`` for a body without a history.
  init(_ body: Data) throws(ServerFailure) {
    do {
      let answer = try JSONDecoder().decode(Answer.self, from: body)
      self.init(entries: answer.history.count, items: answer.history.compactMap(\.item))
    } catch {
      throw .unusableAnswer("the history in the answer cannot be read")
    }
  }

  /// A boolean; anything else is unknown.
  private struct Flag: Decodable {
    let isSet: Bool?

    init(from decoder: any Decoder) throws { isSet = try? decoder.singleValueContainer().decode(Bool.self) }
  }

  private struct Answer: Decodable {
    struct Entry: Decodable {
      let test_uuid: String?
      let time: NumberOrText?
      let fencesCount: NumberOrText?
      let isCoverageFences: Flag?

      /// `nil` for an entry without a test.
      var item: HistoryItem? {
        guard let test_uuid else { return nil }
        let count = fencesCount?.number.flatMap { Int(exactly: $0) }
        return HistoryItem(
          testUUID: test_uuid, time: time?.number, fences: count ?? (isCoverageFences?.isSet == false ? 0 : nil))
      }
    }

    let history: [Entry]
  }
}

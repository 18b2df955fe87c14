import Foundation

/// A page of the server's history.
public struct HistoryPage: Hashable, Sendable {
  /// The number of entries that the server sent, including those without a test. The next page begins behind them.
  public let entries: Int
  /// The entries with a test, newest first.
  public let items: [HistoryItem]

  /// A page with the given values.
  public init(entries: Int, items: [HistoryItem]) {
    self.entries = entries
    self.items = items
  }

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

  private struct Answer: Decodable {
    struct Entry: Decodable {
      let test_uuid: String?
      let time: NumberOrText?
      let fencesCount: NumberOrText?

      /// `nil` for an entry without a test.
      var item: HistoryItem? {
        guard let test_uuid else { return nil }
        return HistoryItem(
          testUUID: test_uuid, time: time?.number, fences: fencesCount?.number.flatMap { Int(exactly: $0) } ?? 0)
      }
    }

    let history: [Entry]
  }
}

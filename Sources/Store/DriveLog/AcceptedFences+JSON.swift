import Coverage
import Foundation
import OrderedJSON

/// The line of a drive log about fences that the control server has: the second copy of what the store says about them.
///
/// It follows the end of the drive, so no seal covers it: it has a checksum of its own.
extension AcceptedFences {
  /// The line.
  var json: JSON {
    .object(["at": .seconds(DriveTime.start), "accepted": .object(members + [.init("crc32", .string(checksum))])])
  }

  private var members: [JSON.Member] {
    [
      .init("test_uuid", .string(testUUID)), .init("anchor_us", .integer(anchor.microseconds)),
      .init("at_us", .integer(accepted.microseconds)), .init("fences", .string(Self.text(of: fences))),
    ]
  }

  /// CRC-32 of the other members.
  private var checksum: String { String(format: "%08x", Seal.checksum(Array(JSON.object(members).text.utf8))) }

  /// Ascending numbers as ranges, such as `0-26,28`.
  private static func text(of numbers: [Int]) -> String {
    var ranges: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = ranges.last, last.upperBound < number, last.upperBound + 1 == number {
        ranges[ranges.count - 1] = last.lowerBound...number
      } else {
        ranges.append(number...number)
      }
    }
    return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(
      separator: ",")
  }

  /// More fences than a request has.
  private static let most = 10_000

  /// `nil` for a text that ``text(of:)`` does not give.
  private static func numbers(in text: String) -> [Int]? {
    var numbers: [Int] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
      guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1],
        numbers.last ?? -1 < first, first <= last, last - first < most - numbers.count
      else { return nil }
      numbers += first...last
    }
    return numbers
  }

  /// The value of `accepted` in a line.
  struct Value: Decodable {
    private let test_uuid: String
    private let anchor_us: Int64
    private let at_us: Int64
    private let fences: String
    private let crc32: String

    /// `nil` when it was changed after it was written: what it says must not keep fences from being sent.
    var accepted: AcceptedFences? {
      guard let numbers = AcceptedFences.numbers(in: fences) else { return nil }
      let accepted = AcceptedFences(
        testUUID: test_uuid, anchor: WallTime(microseconds: anchor_us), accepted: WallTime(microseconds: at_us),
        fences: numbers)
      return accepted.checksum == crc32 ? accepted : nil
    }
  }
}

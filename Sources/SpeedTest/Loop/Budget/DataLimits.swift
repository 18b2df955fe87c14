/// The data that speed tests may use, in bytes of both directions. A limit holds back the next test; it aborts none, so that the last test
/// of a period can exceed it.
public struct DataLimits: Hashable, Sendable {
  /// Bytes in a calendar day, UTC; `nil`: no limit.
  public let day: Int64?
  /// Bytes in a calendar month, UTC; `nil`: no limit.
  public let month: Int64?

  public static let none = DataLimits()

  private init() { (day, month) = (nil, nil) }

  /// - Throws: ``LoopFault`` for a limit that permits no test at all.
  public init(day: Int64?, month: Int64?) throws(LoopFault) {
    for (period, bytes) in [("day", day), ("month", month)] where bytes ?? 1 < 1 {
      throw LoopFault(
        description:
          "the data limit of a \(period) is \(bytes ?? 0) bytes: set at least 1 byte, or leave it out for no limit")
    }
    (self.day, self.month) = (day, month)
  }
}

/// A setting of a loop outside of its range, in one line: the wrong value and the accepted range.
public struct LoopFault: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String
}

/// Why a test that is due cannot start.
public enum LoopHold: String, Hashable, Sendable, Codable, CaseIterable {
  /// The operator paused the loop, or the host is about to sleep.
  case inactive
  /// Another link than a mobile network would carry the test.
  case otherLink
  /// Distance counts, and there is no accurate fix.
  case noFix
  case dayLimit
  case monthLimit
}

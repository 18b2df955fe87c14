/// The data that speed tests may use, in bytes of both directions. A limit holds back the next test; it aborts none, so that the last test
/// of a period can exceed it.
public struct DataLimits: Hashable, Sendable {
  /// Bytes in a calendar day, UTC; `nil`: no limit.
  public let day: Int64?
  /// Bytes in a calendar month, UTC; `nil`: no limit.
  public let month: Int64?

  public static let none = DataLimits()

  private init() { (day, month) = (nil, nil) }

  public init(day: Int64?, month: Int64?) throws(Fault) {
    if let day, day < 1 { throw Fault(period: "day", bytes: day) }
    if let month, month < 1 { throw Fault(period: "month", bytes: month) }
    (self.day, self.month) = (day, month)
  }

  /// A limit that permits no test at all.
  public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// `day` or `month`.
    public let period: String
    /// The refused limit.
    public let bytes: Int64

    /// One line: the wrong value and the accepted range.
    public var description: String {
      "the data limit of a \(period) is \(bytes) bytes: set at least 1 byte, or leave it out for no limit"
    }
  }
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

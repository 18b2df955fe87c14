import Coverage

/// The class of a fence in the shares of coverage, and of a speed test in the table by technology. The order is that of the
/// rows.
public enum Reception: Hashable, Sendable, CaseIterable {
  /// Pings were answered, on a technology of this generation.
  case two, three, four, fiveNonStandalone, fiveStandalone
  /// Pings were answered, on a technology that is not known.
  case unknown
  /// Pings were sent, and none was answered.
  case noAnswer
  /// No ping was sent.
  case notMeasured

  /// The reception in a fence.
  public init(_ fence: Fence) {
    if fence.pings <= 0 {
      self = .notMeasured
    } else if fence.pingsAnswered <= 0 {
      self = .noAnswer
    } else {
      self.init(on: fence.technology)
    }
  }

  /// The reception of answered pings, or of a test, on a technology; ``unknown`` without one or with an unknown name.
  public init(on technology: Technology?) {
    self =
      switch technology?.generation {
      case .two: .two
      case .three: .three
      case .four: .four
      case .fiveNonStandalone: .fiveNonStandalone
      case .fiveStandalone: .fiveStandalone
      case .noNetwork, nil: .unknown
      }
  }

  /// The name of the row on the page, and of the group in JSON.
  public var name: String {
    switch self {
    case .two: "2G"
    case .three: "3G"
    case .four: "4G"
    case .fiveNonStandalone: "5G NSA"
    case .fiveStandalone: "5G SA"
    case .unknown: "unknown technology"
    case .noAnswer: "no answer"
    case .notMeasured: "not measured"
    }
  }

  /// Whether it is coverage: at least one ping was answered (after ETSI TS 102 250-2, service availability).
  var isCoverage: Bool { self != .noAnswer && self != .notMeasured }
}

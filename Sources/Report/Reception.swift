import Coverage

/// What a fence counts as in the shares of coverage.
public enum Reception: Hashable, Sendable, CaseIterable {
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

  /// The reception of pings or tests on a technology.
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

  /// For people and for JSON.
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

  /// Whether it is coverage: at least one ping was answered.
  public var isCoverage: Bool { self != .noAnswer && self != .notMeasured }
}

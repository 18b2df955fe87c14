import Coverage

/// A technology as the user names it: `4G/LTE`, or a generation (`2G`, `3G`, `4G`, `5G`, `5G NSA`, `5G SA`, `none`).
public enum TechnologyPattern: Hashable, Sendable {
  /// The name on the wire, in its own spelling.
  case name(String)
  /// One of these generations; `5G` is two of them.
  case generations([Technology.Generation])

  /// `nil` for text that is neither the name of a technology nor of a generation. Upper and lower case are the same.
  public init?(_ text: String) {
    let wanted = text.lowercased()
    if wanted == "5g" {
      self = .generations([.fiveNonStandalone, .fiveStandalone])
    } else if let generation = Technology.Generation.allCases.first(where: { $0.rawValue.lowercased() == wanted }) {
      self = .generations([generation])
    } else if let name = Technology.knownNames.first(where: { $0.lowercased() == wanted }) {
      self = .name(name)
    } else {
      return nil
    }
  }

  /// Whether the pattern selects a fence with this technology; `nil` (no technology was seen in the fence) matches `none`
  /// only.
  func matches(_ technology: Technology?) -> Bool {
    let technology = technology ?? .none
    return switch self {
    case .name(let name): technology.name == name
    case .generations(let generations): technology.generation.map(generations.contains) ?? false
    }
  }
}

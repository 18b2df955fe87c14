/// A radio technology by its name on the wire, e.g. `4G/LTE` (docs/protocol.md, 5).
public struct Technology: Hashable, Sendable {
  /// The name on the wire.
  public let name: String

  /// - Parameter name: The name on the wire; any text is allowed, see ``isKnown``.
  public init(_ name: String) {
    self.name = name
  }

  /// The control server's `network_type`; `nil` for a name that the server does not know.
  public var id: Int? { Self.ids[name] }

  /// Whether the name is in docs/protocol.md, 5's table.
  public var isKnown: Bool { id != nil }

  /// The generation for display; `nil` for a name that the control server does not know.
  public var generation: Generation? {
    switch id {
    case nil: nil
    case 41: .fiveNonStandalone
    case 20: .fiveStandalone
    case 1000: .noNetwork
    default:
      switch name.prefix(2) {
      case "2G": .two
      case "3G": .three
      case "4G": .four
      default: nil
      }
    }
  }

  /// The kind of the serving cell's network: in 5G non-standalone the anchor's, LTE. `nil` without one, and for CDMA.
  public var cellKind: RadioCell.Kind? {
    switch generation {
    case .two: name == "2G/GSM" || name == "2G/EDGE" ? .gsm : nil
    case .three: .umts
    case .four, .fiveNonStandalone: .lte
    case .fiveStandalone: .nr
    case .noNetwork, nil: nil
    }
  }

  /// Groups for display (docs/protocol.md, 5).
  public enum Generation: String, Hashable, Sendable, CaseIterable {
    case two = "2G"
    case three = "3G"
    case four = "4G"
    case fiveNonStandalone = "5G NSA"
    case fiveStandalone = "5G SA"
    case noNetwork = "none"
  }

  /// The technology of a fence in which none was seen.
  public static let none = Technology("NONE")

  /// All names that the control server knows, sorted.
  public static var knownNames: [String] { ids.keys.sorted() }

  // The names that the reference app sends; in the last line further names of the server's catalogue that a Linux modem can report.
  private static let ids: [String: Int] = [
    "2G/GSM": 1, "2G/EDGE": 2, "3G/UMTS": 3, "2G/CDMA": 4, "2G/EVDO_0": 5, "2G/EVDO_A": 6, "2G/EVDO_B": 12,
    "3G/HSDPA": 8, "3G/HSUPA": 9, "4G/LTE": 13, "2G/HRPD": 14, "5G/NR": 20, "5G/NRNSA": 41, "NONE": 1000,
    "3G/HSPA": 10, "3G/HSPA+": 15, "4G/LTE CA": 19,
  ]
}

/// A report of a radio source at one moment.
public struct RadioReading: Hashable, Sendable {
  /// The technology; `nil` without service, and while it is unknown.
  public var technology: Technology?
  /// The modem's other values; `nil` from a source that tells the technology only, and while there is no modem.
  public var modem: ModemReading?
  /// Why the modem measures nothing, for an operator, e.g. `the SIM wants its PIN`; `nil` when it is in service.
  public var obstacle: String?

  /// A reading with these values.
  public init(technology: Technology? = nil, modem: ModemReading? = nil, obstacle: String? = nil) {
    (self.technology, self.modem, self.obstacle) = (technology, modem, obstacle)
  }

  /// The reading without values that no network has: cells and operator (``RadioCell/checked(as:)``). Every source passes this.
  public var checked: RadioReading {
    var reading = self
    reading.modem = modem?.checked(as: technology?.cellKind)
    return reading
  }
}

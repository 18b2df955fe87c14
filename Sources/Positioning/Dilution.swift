/// The dilutions of precision of a SKY report, without a unit; `nil` where gpsd gives none.
public struct Dilution: Hashable, Sendable {
  /// Of the horizontal position.
  public var hdop: Double?
  /// Of the longitude.
  public var xdop: Double?
  /// Of the latitude.
  public var ydop: Double?

  /// Dilutions with the given values.
  public init(hdop: Double?, xdop: Double? = nil, ydop: Double? = nil) {
    (self.hdop, self.xdop, self.ydop) = (hdop, xdop, ydop)
  }
}

extension Dilution {
  init(_ object: JSONObject) {
    self.init(hdop: object.number("hdop"), xdop: object.number("xdop"), ydop: object.number("ydop"))
  }
}

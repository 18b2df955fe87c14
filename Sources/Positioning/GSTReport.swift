/// A GST report: the receiver's own standard deviations, in metres; `nil` where gpsd gives none.
public struct GSTReport: Hashable, Sendable {
  /// gpsd's path of the receiver.
  public var device: String?
  /// Of the latitude.
  public var latitude: Double?
  /// Of the longitude.
  public var longitude: Double?
  /// Of the major axis of the error ellipse.
  public var major: Double?
  /// Of the minor axis of the error ellipse.
  public var minor: Double?

  /// A report with the given values.
  public init(
    device: String?, latitude: Double? = nil, longitude: Double? = nil, major: Double? = nil, minor: Double? = nil
  ) {
    (self.device, self.latitude, self.longitude, self.major, self.minor) = (device, latitude, longitude, major, minor)
  }

  /// The horizontal standard deviation: the root of the sum of the squares of either pair; `nil` where the report has no pair.
  var horizontal: Double? {
    for pair in [(latitude, longitude), (major, minor)] {
      if let first = pair.0.asErrorEstimate, let second = pair.1.asErrorEstimate {
        return (first * first + second * second).squareRoot()
      }
    }
    return nil
  }
}

extension GSTReport {
  init(_ object: JSONObject) {
    self.init(
      device: object.string("device"), latitude: object.number("lat"), longitude: object.number("lon"),
      major: object.number("major"), minor: object.number("minor"))
  }
}

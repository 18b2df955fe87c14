import Coverage

/// A time-position-velocity report. Whatever gpsd left out, or printed as something that is no finite number, is `nil`;
/// nothing here has been judged (spec/gpsd.md 4).
public struct TPV: Hashable, Sendable {
  /// gpsd's path of the receiver.
  public var device: String?
  /// 0 unknown, 1 no fix, 2 two-dimensional, 3 three-dimensional.
  public var mode = 0
  /// 2 DGPS, 3 RTK fixed, 4 RTK float, 5 dead reckoning, 6 GNSS and dead reckoning, 7 surveyed, 8 simulated, 9 P(Y).
  public var status: Int?
  /// The receiver's idea of the time: now and then wrong by years, so nothing may depend on it.
  public var time: WallTime?
  /// Degrees north.
  public var latitude: Double?
  /// Degrees east.
  public var longitude: Double?
  /// Metres above mean sea level (gpsd 3.20 and later).
  public var altMSL: Double?
  /// Metres above the ellipsoid (gpsd 3.20 and later).
  public var altHAE: Double?
  /// Metres; a copy of `altMSL`, or up to gpsd 3.19 the only altitude, above whichever of the two.
  public var alt: Double?
  /// Degrees clockwise from true north.
  public var track: Double?
  /// Metres a second over ground; gpsd invents it from the position's jump where the receiver gives none.
  public var speed: Double?
  /// Metres a second upwards.
  public var climb: Double?
  /// Estimated horizontal error in metres; at which confidence depends on the receiver (docs/accuracy.md).
  public var eph: Double?
  /// Estimated error of the longitude in metres; as above.
  public var epx: Double?
  /// Estimated error of the latitude in metres; as above.
  public var epy: Double?
  /// Estimated vertical error in metres; as above.
  public var epv: Double?

  public init() {}

  /// This report with what a later one of the same epoch says laid over it.
  func merged(with later: TPV) -> TPV {
    var both = later
    both.device = later.device ?? device
    both.mode = max(mode, later.mode)
    both.status = later.status ?? status
    both.time = later.time ?? time
    if later.latitude == nil || later.longitude == nil {
      both.latitude = latitude
      both.longitude = longitude
    }
    both.altMSL = later.altMSL ?? altMSL
    both.altHAE = later.altHAE ?? altHAE
    both.alt = later.alt ?? alt
    both.track = later.track ?? track
    both.speed = later.speed ?? speed
    both.climb = later.climb ?? climb
    both.eph = later.eph ?? eph
    both.epx = later.epx ?? epx
    both.epy = later.epy ?? epy
    both.epv = later.epv ?? epv
    return both
  }
}

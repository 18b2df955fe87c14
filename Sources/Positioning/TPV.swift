import Coverage

/// A time-position-velocity report of gpsd. Values that are absent or not finite are `nil`; values are not checked otherwise
/// (docs/protocol.md, 4.4).
public struct TPV: Hashable, Sendable {
  /// gpsd's path of the receiver.
  public var device: String?
  /// 0 unknown, 1 no fix, 2 two-dimensional, 3 three-dimensional.
  public var mode = 0
  /// 2 DGPS, 3 RTK fixed, 4 RTK float, 5 dead reckoning, 6 GNSS and dead reckoning, 7 surveyed, 8 simulated, 9 P(Y).
  public var status: Int?
  /// The receiver's time. It can be wrong by years, so no decision may depend on it alone.
  public var time: WallTime?
  /// Degrees north.
  public var latitude: Double?
  /// Degrees east.
  public var longitude: Double?
  /// Metres above mean sea level (gpsd 3.20 and later).
  var altMSL: Double?
  /// Metres above the ellipsoid (gpsd 3.20 and later).
  var altHAE: Double?
  /// Metres; a copy of `altMSL`. Up to gpsd 3.19 the only altitude, above either sea level or the ellipsoid.
  var alt: Double?
  /// Degrees clockwise from true north.
  public var track: Double?
  /// Metres a second over ground; gpsd derives it from the change of the position when the receiver gives none.
  public var speed: Double?
  /// Estimated horizontal error in metres. Its confidence depends on the receiver (docs/accuracy.md).
  public var eph: Double?
  /// Estimated error of the longitude in metres, with the same remark.
  public var epx: Double?
  /// Estimated error of the latitude in metres, with the same remark.
  public var epy: Double?
  /// Estimated vertical error in metres, with the same remark.
  public var epv: Double?

  /// A report without values.
  public init() {}

  /// This report, with the values of a later one of the same epoch over its own.
  func merged(with later: TPV) -> TPV {
    var both = later
    both.device = later.device ?? device
    both.mode = max(mode, later.mode)
    both.status = later.status ?? status
    both.time = later.time ?? time
    if later.latitude == nil || later.longitude == nil { (both.latitude, both.longitude) = (latitude, longitude) }
    for member in Self.numbers.values where both[keyPath: member] == nil {
      both[keyPath: member] = self[keyPath: member]
    }
    return both
  }
}

extension TPV {
  /// The numbers beside the position, by gpsd's names.
  private static var numbers: [String: WritableKeyPath<TPV, Double?>] {
    [
      "altMSL": \.altMSL, "altHAE": \.altHAE, "alt": \.alt, "track": \.track, "speed": \.speed,
      "eph": \.eph, "epx": \.epx, "epy": \.epy, "epv": \.epv,
    ]
  }

  init(_ object: JSONObject) {
    self.init()
    device = object.string("device")
    mode = object.integer("mode") ?? 0
    status = object.integer("status")
    time = object.string("time").flatMap(ReceiverTime.parse)
    (latitude, longitude) = (object.number("lat"), object.number("lon"))
    for (name, member) in Self.numbers { self[keyPath: member] = object.number(name) }
  }
}

/// Reads gpsd's time stamps: ISO 8601 in UTC, `2026-11-20T10:00:00.000Z`. 60 is a valid second, because receivers report leap seconds.
enum ReceiverTime {
  /// `0` stands for a digit.
  private static let form = "0000-00-00T00:00:00"
  private static let longestFraction = 18

  /// `nil` for text in another form, and for a time outside of the years 1 to 9999. Digits beyond the microsecond are cut off.
  static func parse(_ text: String) -> WallTime? {
    let bytes = Array(text.utf8)
    guard bytes.last == UInt8(ascii: "Z"), bytes.count > form.utf8.count, !text.hasPrefix("0000"),
      zip(bytes, form.utf8).allSatisfy({ $1 == UInt8(ascii: "0") ? isDigit($0) : $0 == $1 })
    else { return nil }
    let fraction = bytes[form.utf8.count..<bytes.count - 1]
    let isFraction =
      fraction.first == UInt8(ascii: ".") && (2...longestFraction + 1).contains(fraction.count)
      && fraction.dropFirst().allSatisfy(isDigit)
    return fraction.isEmpty || isFraction ? WallTime(iso8601: text) : nil
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

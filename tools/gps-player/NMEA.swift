import Foundation

/// NMEA 0183 sentences from which gpsd computes the same track again.
enum NMEA {
  /// gpsd's factor from HDOP to `eph`, so that gpsd reports the track's accuracy.
  static let metresPerHDOP = 19.0
  private static let knotsPerMetrePerSecond = 3600.0 / 1852.0

  static func recording(_ points: [TrackPoint], start: UTCTime) -> Recording {
    Recording(
      pieces: points.map { point in
        let text = sentences(point, time: start.advanced(bySeconds: point.seconds)).joined()
        return .init(at: point.seconds, bytes: Array(text.utf8), epochs: 1)
      })
  }

  /// GGA, GSA and RMC. RMC, with the date, comes last, so that gpsd treats it as the end of the epoch.
  static func sentences(_ point: TrackPoint, time: UTCTime) -> [String] {
    guard let (latitude, longitude) = point.position else {
      return [
        sentence("GPGGA,\(time.nmeaTime),,,,,0,00,,,M,,M,,"),
        sentence("GPGSA,A,1,,,,,,,,,,,,,,,"),
        sentence("GPRMC,\(time.nmeaTime),V,,,,,,,\(time.nmeaDate),,,N"),
      ]
    }
    let place =
      "\(angle(latitude, width: 2)),\(latitude < 0 ? "S" : "N"),"
      + "\(angle(longitude, width: 3)),\(longitude < 0 ? "W" : "E")"
    let hdop = point.accuracy.map { decimal($0 / metresPerHDOP, 3) } ?? ""
    let altitude = point.altitude.map { decimal($0, 1) } ?? ""
    let knots = point.speed.map { decimal($0 * knotsPerMetrePerSecond, 3) } ?? ""
    let course = point.course.map { decimal($0, 2) } ?? ""
    let mode = point.altitude == nil ? 2 : 3
    return [
      sentence("GPGGA,\(time.nmeaTime),\(place),1,08,\(hdop),\(altitude),M,,M,,"),
      sentence("GPGSA,A,\(mode),02,05,07,13,15,20,24,30,,,,,\(hdop),\(hdop),\(hdop)"),
      sentence("GPRMC,\(time.nmeaTime),A,\(place),\(knots),\(course),\(time.nmeaDate),,,A"),
    ]
  }

  /// `$body*checksum` with its line end.
  static func sentence(_ body: String) -> String {
    let checksum = body.utf8.reduce(UInt8(0), ^)
    let digits = String(checksum, radix: 16, uppercase: true)
    return "$\(body)*\(digits.count < 2 ? "0" : "")\(digits)\r\n"
  }

  /// Degrees and minutes, `ddmm.mmmmmmm`: seven decimals are a fifth of a millimetre.
  static func angle(_ degrees: Double, width: Int) -> String {
    // Round the whole angle first, so that 59.99999999 minutes do not become 60.
    let units = Int64((abs(degrees) * 60 * 1e7).rounded())
    let (whole, minutes) = units.quotientAndRemainder(dividingBy: 600_000_000)
    let fraction = String(minutes % 10_000_000)
    return pad(String(whole), width) + pad(String(minutes / 10_000_000), 2) + "." + pad(fraction, 7)
  }

  private static func pad(_ digits: String, _ width: Int) -> String {
    String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  static func decimal(_ value: Double, _ places: Int) -> String { String(format: "%.\(places)f", value) }
}

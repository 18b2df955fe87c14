import Coverage
import OrderedJSON

/// A segment of a track as the map page reads it: session, link, and the places as differences in millionths of a degree,
/// latitude and longitude in turn.
enum MapTrack {
  /// Nearer places than this, in millionths of a degree, are one: a device at rest adds nothing.
  private static let least: Int64 = 20

  /// The JSON text in one line, safe inside of a `script` element.
  static func text(_ segment: TrackSegment) -> [UInt8] {
    var (points, last) = ([JSON](), (latitude: Int64(0), longitude: Int64(0)))
    for (index, point) in segment.points.enumerated() {
      let (latitude, longitude) = (millionths(point.place.latitude), millionths(point.place.longitude))
      let step = (latitude: latitude - last.latitude, longitude: longitude - last.longitude)
      let isAtEnd = index == 0 || index == segment.points.count - 1
      guard isAtEnd || abs(step.latitude) + abs(step.longitude) >= least else { continue }
      points += [.integer(step.latitude), .integer(step.longitude)]
      last = (latitude, longitude)
    }
    let object = JSON.object([
      "session": .integer(segment.session), "link": segment.link.map(JSON.string), "points": .array(points),
    ])
    return ScriptText.json(Array(object.text.utf8))
  }

  /// A coordinate is within its range.
  private static func millionths(_ degrees: Double) -> Int64 { Int64((degrees * 1e6).rounded()) }
}

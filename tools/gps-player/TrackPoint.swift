/// A point of a track file. An absent value is unknown; without a position there is no fix.
struct TrackPoint: Hashable, Sendable, Decodable {
  var seconds: Double
  var latitude, longitude, speed, course, altitude, accuracy: Double?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case seconds, latitude, longitude
    case speed = "speed_mps"
    case course = "course_deg"
    case altitude = "altitude_m"
    case accuracy = "accuracy_m"
  }

  var position: (latitude: Double, longitude: Double)? {
    guard let latitude, let longitude else { return nil }
    return (latitude, longitude)
  }

  /// - Throws: ``PlayerError`` for a value that is missing or out of range.
  func check() throws {
    func outside(_ value: Double?, _ range: ClosedRange<Double>) -> Bool { value.map { !range.contains($0) } ?? false }
    let wrong: String? =
      if outside(seconds, 0...Recording.longest) {
        "seconds"
      } else if (latitude == nil) != (longitude == nil) {
        "latitude or longitude"
      } else if outside(latitude, -90...90) {
        "latitude"
      } else if outside(longitude, -180...180) {
        "longitude"
      } else if outside(speed, 0...1000) {
        "speed_mps"
      } else if outside(course, 0...360) {
        "course_deg"
      } else if outside(altitude, -1000...100_000) {
        "altitude_m"
      } else if outside(accuracy, 0...100_000) {
        "accuracy_m"
      } else {
        nil
      }
    if let wrong { throw PlayerError("\(wrong) is missing or out of range") }
  }
}

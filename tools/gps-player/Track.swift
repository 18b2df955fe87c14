import Foundation

/// A moment of a track file. A value that is not given is not known; without a position there is no fix.
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

  fileprivate func check() throws {
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

/// Reads track files, CSV or JSON Lines.
enum Track {
  static func points(csv text: String) throws -> [TrackPoint] {
    var columns = TrackPoint.CodingKeys.allCases.map(\.rawValue)
    var headerAllowed = true
    return try points(text) { line in
      let fields = line.split(separator: ",", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      if headerAllowed, Double(fields[0]) == nil {
        headerAllowed = false
        columns = fields
        let known = Set(TrackPoint.CodingKeys.allCases.map(\.rawValue))
        if let unknown = fields.first(where: { !known.contains($0) }) { throw PlayerError("unknown column \(unknown)") }
        return nil
      }
      headerAllowed = false
      return try point(fields, columns: columns)
    }
  }

  private static func point(_ fields: [String], columns: [String]) throws -> TrackPoint {
    guard fields.count <= columns.count else { throw PlayerError("more than \(columns.count) columns") }
    func value(_ key: TrackPoint.CodingKeys) throws -> Double? {
      guard let index = columns.firstIndex(of: key.rawValue), index < fields.count, !fields[index].isEmpty else {
        return nil
      }
      guard let value = Double(fields[index]) else { throw PlayerError("\(key.rawValue): no number") }
      return value
    }
    guard let seconds = try value(.seconds) else { throw PlayerError("seconds is missing") }
    return TrackPoint(
      seconds: seconds, latitude: try value(.latitude), longitude: try value(.longitude), speed: try value(.speed),
      course: try value(.course), altitude: try value(.altitude), accuracy: try value(.accuracy))
  }

  static func points(jsonLines text: String) throws -> [TrackPoint] {
    let decoder = JSONDecoder()
    return try points(text) { line in
      do {
        return try decoder.decode(TrackPoint.self, from: Data(line.utf8))
      } catch {
        throw PlayerError("no track point: \(error)")
      }
    }
  }

  /// Goes through the lines; empty ones and those with `#` are skipped.
  private static func points(_ text: String, parse: (String) throws -> TrackPoint?) throws -> [TrackPoint] {
    var points: [TrackPoint] = []
    for (index, raw) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let line = raw.trimmingCharacters(in: .whitespaces)
      if line.isEmpty || line.hasPrefix("#") { continue }
      do {
        guard let point = try parse(line) else { continue }
        try point.check()
        if let last = points.last, point.seconds <= last.seconds { throw PlayerError("seconds do not grow") }
        points.append(point)
      } catch {
        throw PlayerError("line \(index + 1): \(error)")
      }
    }
    guard !points.isEmpty else { throw PlayerError("the track is empty") }
    return points
  }
}

import Foundation

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
      guard let value = Double(fields[index]) else { throw PlayerError("\(key.rawValue): not a number") }
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
        throw PlayerError("not a track point: \(error)")
      }
    }
  }

  /// Parses the lines, without empty ones and those with `#`.
  private static func points(_ text: String, parse: (String) throws -> TrackPoint?) throws -> [TrackPoint] {
    var points: [TrackPoint] = []
    for (index, raw) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let line = raw.trimmingCharacters(in: .whitespaces)
      if line.isEmpty || line.hasPrefix("#") { continue }
      do {
        guard let point = try parse(line) else { continue }
        try point.check()
        if let last = points.last, point.seconds <= last.seconds { throw PlayerError("seconds do not increase") }
        points.append(point)
      } catch {
        throw PlayerError("line \(index + 1): \(error)")
      }
    }
    guard !points.isEmpty else { throw PlayerError("the track is empty") }
    return points
  }
}

import Foundation

/// gpsd's reports, from a track or a recording.
enum GPSDReports {
  /// The device in the reports of a track.
  static let device = Recording.Greeting.device

  static func recording(_ points: [TrackPoint], start: UTCTime) -> Recording {
    Recording(
      pieces: points.map { point in
        let time = start.advanced(bySeconds: point.seconds)
        let text = sky(point, time: time) + "\r\n" + tpv(point, time: time) + "\r\n"
        return .init(at: point.seconds, bytes: Array(text.utf8), epochs: 1)
      })
  }

  static func tpv(_ point: TrackPoint, time: UTCTime) -> String {
    var members = [
      #""class":"TPV""#, #""device":"\#(device)""#, #""mode":\#(mode(point))"#, #""time":"\#(time.iso)""#,
      #""ept":0.005"#,
    ]
    func add(_ key: String, _ value: Double?, places: Int) {
      if let value { members.append(#""\#(key)":\#(NMEA.decimal(value, places))"#) }
    }
    if let (latitude, longitude) = point.position {
      add("lat", latitude, places: 9)
      add("lon", longitude, places: 9)
      for key in ["altMSL", "alt"] { add(key, point.altitude, places: 4) }
      add("track", point.course, places: 4)
      add("speed", point.speed, places: 3)
      add("eph", point.accuracy, places: 3)
    }
    return "{\(members.joined(separator: ","))}"
  }

  /// Not 19.0, gpsd's factor from HDOP to `eph`: a track's accuracy is the receiver's own estimate.
  private static let metresPerHDOP = 5.0

  static func sky(_ point: TrackPoint, time: UTCTime) -> String {
    var members = [#""class":"SKY""#, #""device":"\#(device)""#, #""time":"\#(time.iso)""#]
    if point.position != nil, let accuracy = point.accuracy {
      members.append(#""hdop":\#(NMEA.decimal(accuracy / metresPerHDOP, 3))"#)
    }
    members.append(#""nSat":9,"uSat":\#(point.position == nil ? 0 : 8)"#)
    return "{\(members.joined(separator: ","))}"
  }

  private static func mode(_ point: TrackPoint) -> Int {
    point.position == nil ? 1 : point.altitude == nil ? 2 : 3
  }

  /// A recorded stream, line by line. Its VERSION and DEVICES become the greeting; its WATCH is left out, because each client gets its own
  /// answer.
  static func recording(lines bytes: [UInt8], rate: Double?) throws -> Recording {
    var recording = Recording(pieces: [])
    var pace = Pace()
    var sent = 0
    var greeted = Set<String>()
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
      let kind = member("class", of: text)
      if let kind, ["VERSION", "DEVICES", "WATCH"].contains(kind), greeted.insert(kind).inserted {
        if kind == "VERSION" { recording.greeting.version = text }
        if kind == "DEVICES" { recording.greeting.devices = text }
        continue
      }
      let time = kind == "TPV" ? member("time", of: text)?.dropFirst(11).filter { $0 != ":" && $0 != "Z" } : nil
      let isEpoch =
        time.flatMap(Pace.seconds(hhmmss:)).map {
          pace.advance(to: $0, of: member("device", of: text) ?? "")
        } ?? false
      let at = rate.map { Double(sent) / $0 } ?? pace.elapsed
      recording.pieces.append(.init(at: at, bytes: Array(line) + [UInt8(ascii: "\n")], epochs: isEpoch ? 1 : 0))
      sent += line.count + 1
    }
    guard !recording.pieces.isEmpty else { throw PlayerError("the recording is empty") }
    return recording
  }

  /// The first string called `key` in a line, found without parsing it: recorded lines may be broken.
  private static func member(_ key: String, of line: String) -> String? {
    guard let start = line.range(of: "\"\(key)\"\\s*:\\s*\"", options: .regularExpression) else { return nil }
    return line[start.upperBound...].split(separator: "\"", maxSplits: 1, omittingEmptySubsequences: false).first
      .map(String.init)
  }
}

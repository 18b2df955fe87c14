import Foundation

/// A file to play.
struct Source: Sendable {
  /// In bytes. Larger files are refused, because a file is read into memory as a whole.
  static let largest = 256 << 20

  let path: String

  /// - Parameters:
  ///   - asReceiver: Whether to play a receiver's bytes instead of gpsd's reports.
  ///   - start: The time of a track's second 0.
  func recording(asReceiver: Bool, rate: Double?, start: UTCTime) throws -> Recording {
    do {
      let bytes = try read()
      let name = path.lowercased()
      if name.hasSuffix(".csv") || name.hasSuffix(".jsonl") {
        if rate != nil { throw PlayerError("--rate is not for tracks") }
        let text = String(decoding: bytes, as: UTF8.self)
        let points = name.hasSuffix(".csv") ? try Track.points(csv: text) : try Track.points(jsonLines: text)
        return asReceiver
          ? NMEA.recording(points, start: start) : GPSDReports.recording(points, start: start)
      }
      if name.hasSuffix(".json") {
        if asReceiver { throw PlayerError("a gpsd recording is for --gpsd") }
        return try GPSDReports.recording(lines: bytes, rate: rate)
      }
      guard asReceiver else { throw PlayerError("a receiver's log is for --feed") }
      return try ReceiverLog.recording(bytes, rate: rate)
    } catch {
      throw PlayerError("\(path): \(error)")
    }
  }

  private func read() throws -> [UInt8] {
    guard let file = FileHandle(forReadingAtPath: path) else { throw PlayerError("cannot be read") }
    defer { try? file.close() }
    let data = try file.read(upToCount: Self.largest + 1) ?? Data()
    guard data.count <= Self.largest else { throw PlayerError("larger than \(Self.largest) bytes") }
    return Array(data)
  }
}

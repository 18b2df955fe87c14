import Coverage
import Foundation

/// The events of a drive log, read in pieces: memory does not grow with the drive.
public struct LoggedPositions: Sendable {
  /// The first line of the log.
  public let header: DriveLogHeader
  private let path: String

  /// The bytes of one read.
  private static let piece = 1 << 16
  /// The longest line that is read.
  private static let longestLine = 1 << 16

  /// Reads the first line.
  /// - Throws: ``DriveLogError`` when the file cannot be read or its first line is not a header.
  public init(path: String) throws {
    self.path = path
    var first: [UInt8] = []
    try Self.lines(of: path) { _, line in
      first = Array(line)
      return false
    }
    header = try RecordedDrive.header(Data(first), JSONDecoder())
  }

  /// Calls `body` with each position and its time in the drive, in the order of the log. A position without coordinates: it was lost.
  /// - Returns: The number of lines that cannot be read, positions or not.
  /// - Throws: ``DriveLogError``, and errors of `body`.
  public func forEach(_ body: (DriveTime, Fix) throws -> Void) throws -> Int {
    try forEachEvent { if case .fix(let fix) = $0.kind { try body($0.at, fix) } }
  }

  /// The driver by which gpsd read the receiver of the drive's first hundred positions, and in parentheses what that receiver said of itself
  /// (docs/drive-log.md, `driver` and `model`); `nil` when they name no driver.
  /// - Throws: ``DriveLogError``
  public func receiver() throws -> String? {
    struct Details: Decodable { let driver, model: String? }
    let decoder = JSONDecoder()
    var (driver, model, read): (String?, String?, Int) = (nil, nil, 0)
    _ = try forEachLine { _, line, event in
      guard case .fix? = event?.kind else { return true }
      read += 1
      do {
        let details = try decoder.decode(Details.self, from: Data(line))
        // gpsd can take a receiver for a plain one until it knows its model.
        (driver, model) = (details.model == nil ? driver ?? details.driver : details.driver ?? driver, details.model)
      } catch is DecodingError {
        // A driver that is no text is none.
      }
      return model == nil && read < 100
    }
    let named = driver.map { ForeignText.clean($0, limit: 64) }
    return named.map { driver in model.map { "\(driver) (\(ForeignText.clean($0, limit: 160)))" } ?? driver }
  }

  /// Calls `body` with each event, in the order of the log.
  /// - Returns: The number of lines that cannot be read.
  /// - Throws: ``DriveLogError``, and errors of `body`.
  public func forEachEvent(_ body: (Event) throws -> Void) throws -> Int {
    try forEachLine { _, _, event in
      if let event { try body(event) }
      return true
    }
  }

  /// Calls `body` with each line, its number from 1 and its event, until it returns `false`. The header, notes, and lines that cannot be read
  /// have no event. A line that is too long comes in several pieces of one number.
  /// - Returns: The number of lines that cannot be read.
  /// - Throws: ``DriveLogError``, and errors of `body`.
  public func forEachLine(
    _ body: (_ number: Int, _ line: ArraySlice<UInt8>, _ event: Event?) throws -> Bool
  ) throws -> Int {
    let decoder = JSONDecoder()
    var unreadable = 0
    var cells = CellLists()
    try Self.lines(of: path) { number, line in
      guard number > 1, !line.isEmpty else { return try body(number, line, nil) }
      // Nine in ten lines are pings, and the general decoder is slow.
      if let ping = PingLine(line) { return try body(number, line, ping.event) }
      var event: Event?
      do { event = cells.event(of: try decoder.decode(EventLine.self, from: Data(line))) } catch is DecodingError {
        unreadable += 1
        // The line may have named other cells.
        cells = CellLists()
      }
      return try body(number, line, event)
    }
    return unreadable
  }

  /// Calls `body` with each line and its number until it returns `false`. A line that is too long is cut into several, none of which can be
  /// read.
  private static func lines(of path: String, _ body: (Int, ArraySlice<UInt8>) throws -> Bool) throws {
    let file = FileHandle(fileDescriptor: try RecordedDrive.open(path).descriptor, closeOnDealloc: true)
    var (rest, number): ([UInt8], Int) = ([], 1)
    while true {
      let read: Data?
      do { read = try file.read(upToCount: piece) } catch {
        throw DriveLogError.unreadable(path: path, reason: RecordedDrive.reason(error))
      }
      guard let read, !read.isEmpty else { break }
      rest.append(contentsOf: read)
      var start = rest.startIndex
      while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
        guard try body(number, rest[start..<end]) else { return }
        start = end + 1
        number += 1
      }
      rest.removeSubrange(..<start)
      if rest.count > longestLine {
        guard try body(number, rest[...]) else { return }
        rest.removeAll()
      }
    }
    if !rest.isEmpty { _ = try body(number, rest[...]) }
  }
}

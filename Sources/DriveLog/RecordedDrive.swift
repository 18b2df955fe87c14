import Coverage
import Foundation

/// A drive log as read: the header, the events in their order, and what could not be read.
public struct RecordedDrive: Sendable {
  public let header: DriveLogHeader
  public let events: [Event]
  /// The numbers of pings on the wire, by index in ``events``, as far as the log tells them.
  public let pingSequences: [Int: UInt32]
  /// Which clock ruled from when on, where the log tells.
  public let clocks: [ClockNote]
  /// Lines that are no event of a drive, by line number, counted from 1.
  public let garbage: [GarbageLine]
  /// Events of kinds that this program does not know.
  public let unknownEvents: Int
  /// The last line was cut off, as by a power cut.
  public let isTorn: Bool
  /// Events, by index in ``events``, that may not be as they were written, or among which some may be missing. None in a log of an
  /// earlier build, which cannot tell.
  public let unsealed: [Range<Int>]
  /// Events behind the last line that vouches for others, as a kill leaves them.
  public let unsealedTail: Range<Int>?
  /// Sessions, by number, that were forgotten on command.
  public let forgotten: Set<Int>
  /// Whether the header is as it was written, as far as the log tells.
  public let isHeaderSealed: Bool

  public struct GarbageLine: Hashable, Sendable {
    public let number: Int
    public let reason: String
  }

  /// - Throws: ``DriveLogError`` when the file cannot be read or its first line is no header.
  public init(path: String) throws {
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw DriveLogError.unreadable(path: path, reason: Self.reason(error))
    }
    try self.init(data)
  }

  /// - Throws: ``DriveLogError`` when the first line is no header.
  public init(_ data: Data) throws {
    let bytes = [UInt8](data)
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let decoder = JSONDecoder()
    header = try Self.header(Data(lines[0]), decoder)
    let endsWithNewline = lines.last?.isEmpty ?? true
    var events: [Event] = []
    events.reserveCapacity(lines.count)
    var sequences: [Int: UInt32] = [:]
    sequences.reserveCapacity(lines.count)
    var garbage: [GarbageLine] = []
    var clocks: [ClockNote] = []
    var unknown = 0
    var torn = false
    var seals = SealReader()
    var forgotten: Set<Int> = []
    for (index, line) in lines.enumerated().dropFirst() where !line.allSatisfy(Self.isSpace) {
      do {
        let read = try EventLine(ping: line) ?? decoder.decode(EventLine.self, from: Data(line))
        if let event = read.event {
          sequences[events.count] = read.pingSequence
          events.append(event)
        } else if let clock = read.clock {
          clocks.append(clock)
        } else if let seal = read.seal {
          seals.take(seal, of: bytes, line: line.startIndex..<line.endIndex, number: index + 1, events: events.count)
        } else if let session = read.forgotten {
          forgotten.insert(session)
        } else {
          unknown += 1
        }
      } catch {
        if index == lines.count - 1, !endsWithNewline {
          torn = true
        } else {
          garbage.append(GarbageLine(number: index + 1, reason: Self.reason(error)))
        }
      }
    }
    seals.end(
      events: events.count, bytes: bytes.count, isSealed: header.isSealed,
      isTorn: torn, hasGarbage: garbage.contains { $0.number > seals.lastSealLine })
    self.forgotten = forgotten
    (unsealed, unsealedTail, isHeaderSealed) = (seals.unsealed, seals.tail, seals.isHeaderSealed)
    (self.events, pingSequences, self.garbage, unknownEvents, isTorn) = (events, sequences, garbage, unknown, torn)
    self.clocks = clocks
  }

  private static func header(_ line: Data, _ decoder: JSONDecoder) throws -> DriveLogHeader {
    do {
      return try decoder.decode(DriveLogHeader.self, from: line)
    } catch let error as DriveLogError {
      throw error
    } catch {
      let reason = Self.reason(error)
      throw reason == noObject ? DriveLogError.notADriveLog : .badHeader(reason)
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0D].contains(byte) }

  private static let noObject = "no JSON object"

  private static func reason(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, _): "\"\(key.stringValue)\" is missing"
    case DecodingError.typeMismatch(_, let context) where context.codingPath.isEmpty,
      DecodingError.valueNotFound(_, let context) where context.codingPath.isEmpty:
      noObject
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      "\"\(context.codingPath.map(\.stringValue).joined(separator: "."))\" has the wrong type"
    case DecodingError.dataCorrupted(let context):
      context.codingPath.isEmpty ? noObject : context.debugDescription
    default: (error as NSError).localizedFailureReason ?? error.localizedDescription
    }
  }
}

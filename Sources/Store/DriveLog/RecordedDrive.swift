import Coverage
import Foundation

/// A drive log as read from a file: the header, the events in order, and the lines that could not be read.
public struct RecordedDrive: Sendable {
  /// The first line.
  public let header: DriveLogHeader
  /// The events in the order of the log.
  public private(set) var events: [Event] = []
  /// The sequence numbers of pings on the wire, by index in ``events``, for pings of which the log has it.
  public private(set) var pingSequences: [Int: UInt32] = [:]
  /// The selections of a clock; empty in logs of earlier builds.
  public var clocks: [ClockNote] { notes.clocks }
  /// What became of the drive's capture; `nil` without one, and when it was cut off.
  public var capture: CaptureNote? { notes.capture }
  private var notes: (clocks: [ClockNote], capture: CaptureNote?) = ([], nil)
  /// Lines that cannot be read.
  public private(set) var garbage: [GarbageLine] = []
  /// The number of events of unknown kinds.
  public private(set) var unknownEvents = 0
  /// Whether the last line is cut off, as a power cut leaves it.
  public private(set) var isTorn = false
  /// Events, by index in ``events``, that no seal confirms: they may have been changed, and events among them may be missing. Empty in
  /// logs of earlier builds, which have no seals.
  public let unsealed: [Range<Int>]
  /// Events behind the last seal, as a kill leaves them; `nil` when there are none.
  public let unsealedTail: Range<Int>?
  /// The numbers of the sessions that were forgotten on command.
  public private(set) var forgotten: Set<Int> = []
  /// The fences that the control server has, as far as the log knows; later ones last.
  public private(set) var accepted: [AcceptedFences] = []
  /// Whether the header is unchanged; `true` in logs without seals.
  public let isHeaderSealed: Bool

  /// A line that cannot be read.
  public struct GarbageLine: Hashable, Sendable {
    /// The number of the line, from 1.
    public let number: Int
    /// Why it cannot be read, for the operator.
    public let reason: String
  }

  /// The largest file that is read, in bytes: a drive of about a week.
  public static let largest = 1 << 30

  /// Reads the file at `path`.
  /// - Throws: ``DriveLogError`` when the file cannot be read or its first line is not a header.
  public init(path: String) throws {
    let (descriptor, size) = try Self.open(path)
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    // Damage to a file system can make a file longer than memory.
    guard size <= Self.largest else {
      throw DriveLogError.unreadable(path: path, reason: "it is longer than \(Self.largest) bytes")
    }
    let data: Data
    do {
      data = try file.readToEnd() ?? Data()
    } catch {
      throw DriveLogError.unreadable(path: path, reason: Self.reason(error))
    }
    try self.init(data)
  }

  /// Opens a regular file for reading; a pipe in its place would block.
  /// - Returns: Its descriptor, and its size in bytes.
  static func open(_ path: String) throws(DriveLogError) -> (descriptor: Int32, size: Int64) {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw .unreadable(path: path, reason: "it is no regular file")
    }
    return (descriptor, Int64(status.st_size))
  }

  /// Reads the contents of a drive log.
  /// - Parameter progress: Receives the number of bytes so far, now and then.
  /// - Throws: ``DriveLogError`` when the first line is not a header.
  public init(_ data: Data, progress: (Int) -> Void = { _ in }) throws {
    let bytes = [UInt8](data)
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let decoder = JSONDecoder()
    header = try Self.header(Data(lines[0]), decoder)
    let endsWithNewline = lines.last?.isEmpty ?? true
    events.reserveCapacity(lines.count)
    pingSequences.reserveCapacity(lines.count)
    var (seals, cells) = (SealReader(), CellLists())
    for (index, line) in lines.enumerated().dropFirst() where !line.allSatisfy(Self.isSpace) {
      if index % 1024 == 0 { progress(line.startIndex) }
      do {
        let read = try EventLine(ping: line) ?? decoder.decode(EventLine.self, from: Data(line))
        if let event = cells.event(of: read) {
          pingSequences[events.count] = read.pingSequence
          events.append(event)
        } else if let clock = read.clock {
          notes.clocks.append(clock)
        } else if let seal = read.seal {
          seals.apply(seal, of: bytes, line: line.startIndex..<line.endIndex, number: index + 1, events: events.count)
        } else if let session = read.forgotten {
          forgotten.insert(session)
        } else if let fences = read.accepted {
          accepted.append(fences)
        } else if let note = read.capture {
          notes.capture = note
        } else {
          unknownEvents += 1
        }
      } catch {
        // The line may have named other cells.
        cells = CellLists()
        if index == lines.count - 1, !endsWithNewline {
          isTorn = true
        } else {
          garbage.append(GarbageLine(number: index + 1, reason: Self.reason(error)))
        }
      }
    }
    seals.end(
      events: events.count, bytes: bytes.count, isSealed: header.isSealed,
      isTorn: isTorn, hasGarbage: garbage.contains { $0.number > seals.lastSealLine })
    (unsealed, unsealedTail, isHeaderSealed) = (seals.unsealed, seals.tail, seals.isHeaderSealed)
  }

  static func header(_ line: Data, _ decoder: JSONDecoder) throws -> DriveLogHeader {
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

  static func reason(_ error: any Error) -> String {
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

/// Finds the events of a log that no seal confirms. Apply the seals in order, then call ``end(events:bytes:isSealed:isTorn:hasGarbage:)``.
struct SealReader {
  /// The offset of the lines that the next seal covers.
  private var blockStart = 0
  /// Their offset when they were written: missing or added lines shift them.
  private var writtenStart: Int64 = 0
  private var firstEvent = 0
  private var hasSeals = false
  /// The number of the last seal's line, from 1.
  private(set) var lastSealLine = 0
  /// Events, by index, that may have been changed or among which some may be missing.
  private(set) var unsealed: [Range<Int>] = []
  /// Events behind the last seal when no damage shows there: a kill leaves them so.
  private(set) var tail: Range<Int>?
  private(set) var isHeaderSealed = true

  /// Compares the lines before a seal with it.
  /// - Parameters:
  ///   - data: The whole log.
  ///   - line: The place of the seal's line in it.
  ///   - number: The number of the line, from 1.
  ///   - events: The number of events before it.
  mutating func apply(_ seal: Seal, of data: [UInt8], line: Range<Int>, number: Int, events: Int) {
    lastSealLine = number
    let isRight =
      Int64(line.lowerBound - blockStart) == seal.bytes.saturatingSubtracting(writtenStart)
      && Seal.checksum(data[blockStart..<line.lowerBound]) == seal.checksum
    if !isRight { doubt(upTo: events) }
    hasSeals = true
    blockStart = line.upperBound + 1
    let (next, isTooMuch) = seal.bytes.addingReportingOverflow(Int64(line.count + 1))
    writtenStart = isTooMuch ? 0 : next
    firstEvent = events
  }

  /// Classifies the events behind the last seal.
  /// - Parameters:
  ///   - events: The number of all events.
  ///   - bytes: The length of the whole log.
  ///   - isSealed: Whether the header announces seals.
  ///   - isTorn: Whether the last line is cut off.
  ///   - hasGarbage: Whether another line behind the last seal cannot be read.
  mutating func end(events: Int, bytes: Int, isSealed: Bool, isTorn: Bool, hasGarbage: Bool) {
    guard isSealed || hasSeals, blockStart < bytes, events > firstEvent || isTorn || hasGarbage || !hasSeals else {
      return
    }
    if hasGarbage || blockStart == 0 { doubt(upTo: events) } else { tail = firstEvent..<events }
  }

  private mutating func doubt(upTo events: Int) {
    if blockStart == 0 { isHeaderSealed = false }
    // At least the next event: a missing line before it makes it uncertain.
    unsealed.append(firstEvent..<max(events, firstEvent + 1))
  }
}

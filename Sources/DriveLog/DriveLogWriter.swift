import Coverage
import Foundation
import OrderedJSON

/// Appends events to a drive log, each at once, so that a kill loses nothing. A power cut loses what was written since the
/// last ``sync()``, and may tear the last line that is left.
///
/// When the disk is full, lines wait in memory and go out before the next one that can be written.
public final class DriveLogWriter {
  /// Lines that found no room in memory either. Above zero, the log cannot be replayed in full.
  public private(set) var linesDropped = 0
  /// Whether lines wait in memory although there may be room: what little there is belongs to the fences.
  public var isHeld = false

  private let descriptor: CInt
  /// Where it is.
  public let path: String
  private var waiting: [UInt8] = []
  /// About half an hour of a drive.
  private let waitingLimit = 2 << 20

  /// Creates the log and writes its header.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``
  public init(path: String, header: DriveLogHeader) throws {
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o640)
    self.path = path
    guard descriptor >= 0 else { throw Self.error(path) }
    do {
      try write(header.json)
    } catch {
      unlink(path)
      throw error
    }
  }

  /// Creates the log under a name that is not taken in `folder`: a clock that was set back, or that begins at the same time with
  /// each boot, gives a name twice.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``
  public convenience init(newIn folder: String, name: String, header: DriveLogHeader) throws {
    let paths = (1...1000).map { "\(folder)/\(name)\($0 == 1 ? "" : ".\($0)").jsonl" }
    try self.init(path: paths.first { access($0, F_OK) != 0 } ?? paths[0], header: header)
  }

  /// Makes all lines so far safe against a power cut.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``
  public func sync() throws {
    try flush()
    guard fdatasync(descriptor) == 0 else { throw Self.error(path) }
  }

  /// - Parameter details: What a reader may like to know besides; replay ignores it.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``, e.g. when the disk is full; the line is kept for the next call.
  public func append(_ event: Event, beside details: [JSON.Member] = []) throws {
    try write(EventLine.json(event, beside: details))
  }

  /// - Throws: as ``append(_:beside:)``
  public func append(_ note: ClockNote) throws { try write(note.json) }

  private func write(_ json: JSON) throws {
    let line = json.text.utf8
    if !waiting.isEmpty { try? flush() }
    if waiting.count + line.count < waitingLimit {
      waiting += line
      waiting.append(UInt8(ascii: "\n"))
    } else {
      linesDropped += 1
    }
    try flush()
  }

  private func flush() throws {
    guard !isHeld else { return }
    while !waiting.isEmpty {
      let written = waiting.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written >= 0 else { throw Self.error(path) }
      waiting.removeFirst(written)
    }
  }

  private static func error(_ path: String) -> DriveLogError {
    .unwritable(path: path, reason: String(cString: strerror(errno)))
  }

  deinit {
    if descriptor >= 0 {
      fsync(descriptor)
      close(descriptor)
    }
  }
}

import Coverage
import Foundation
import OrderedJSON

/// Appends events to a drive log. Each line is written at once, so a kill loses none. A power cut loses the lines since the last
/// ``sync()`` and can cut off the last remaining line.
///
/// While the disk is full, lines wait in memory; the next call that finds room writes them first.
public final class DriveLogWriter {
  /// The number of lines that were dropped because neither the disk nor the buffer had room. Above zero, the log cannot be replayed in
  /// full.
  public private(set) var linesDropped = 0
  /// The number of lines in memory that the disk has refused so far.
  public var linesWaiting: Int { waiting.count { $0 == UInt8(ascii: "\n") } }
  /// Whether lines wait in memory even if the disk has room: on an almost full disk, fences go first.
  public var isPaused = false

  /// Below zero while the file cannot be created.
  private var descriptor: CInt = -1
  /// The path of the file.
  public let path: String
  private var waiting: [UInt8] = []
  /// The length of all lines so far, including dropped ones.
  private var bytes: Int64 = 0
  /// The checksum of the lines since the last seal; `nil` when all lines are sealed.
  private var unsealed: UInt32?
  /// Of the last line of a modem's report; empty after a dropped line.
  private var cells = CellLists()
  /// In bytes: about half an hour of a drive.
  private let waitingLimit = 2 << 20

  /// Creates the log and writes its header.
  /// - Parameter waitsForRoom: Whether lines wait in memory when the disk has no room or no inode for the file.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``
  public init(path: String, header: DriveLogHeader, waitsForRoom: Bool = false) throws {
    self.path = path
    do {
      try create()
      try write(header.json)
    } catch {
      guard waitsForRoom, Self.isTransient(errno) else {
        if descriptor >= 0 { unlink(path) }
        throw error
      }
      trouble = "\(error)"
      // If the file was created, the header is in the buffer already.
      if descriptor < 0 { try? write(header.json) }
    }
  }

  /// Why the file could not be written when the log was created; `nil` when it was. Its lines wait in memory.
  public private(set) var trouble: String?

  private func create() throws {
    // O_EXCL follows no symbolic link.
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.error(path) }
    // A log contains positions: only its owner may read it, whatever the umask.
    fchmod(descriptor, 0o600)
    StateFile.giveToOwner(of: URL(fileURLWithPath: path).deletingLastPathComponent().path, descriptor)
  }

  private static func isTransient(_ error: CInt) -> Bool { [ENOSPC, EDQUOT, EIO].contains(error) }

  /// Creates the log in `folder` as `name`.jsonl, or with a number behind the name if that file exists: a clock that is set back, or starts
  /// at the same time with each boot, yields a name twice.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``
  public convenience init(newIn folder: String, name: String, header: DriveLogHeader, waitsForRoom: Bool = false) throws
  {
    let paths = (1...1000).map { "\(folder)/\(name)\($0 == 1 ? "" : ".\($0)").jsonl" }
    try self.init(path: paths.first { access($0, F_OK) != 0 } ?? paths[0], header: header, waitsForRoom: waitsForRoom)
  }

  /// Makes all lines so far durable.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``
  public func sync() throws {
    try flush()
    // While it is paused there may be no file yet.
    guard descriptor >= 0 else { return }
    guard fdatasync(descriptor) == 0 else { throw Self.error(path) }
  }

  /// Appends an event.
  /// - Parameter details: Further members of the line; replay ignores them.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``, e.g. when the disk is full; the line waits for the next call.
  public func append(_ event: Event, beside details: [JSON.Member] = []) throws {
    try write(cells.line(of: event, beside: details))
  }

  /// Appends a selection of a clock.
  /// - Throws: as ``append(_:beside:)``
  public func append(_ note: ClockNote) throws { try write(note.json) }

  /// Marks a session of an ended drive as forgotten: recovery from this log leaves it out.
  static func noteForgotten(session: Int, in path: String) throws {
    try note(
      .object(["at": .seconds(DriveTime.start), "forgotten": .object(["session": .integer(Int64(session))])]), in: path)
  }

  /// Notes in the log of an ended drive that the control server has fences of it; durable on return.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``
  public static func note(_ accepted: AcceptedFences, in path: String) throws { try note(accepted.json, in: path) }

  /// Notes in the log of an ended drive what became of its capture; durable on return.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``
  public static func note(_ capture: CaptureNote, in path: String) throws { try note(capture.json, in: path) }

  private static func note(_ note: JSON, in path: String) throws {
    let descriptor = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw error(path) }
    defer { close(descriptor) }
    // The last line may be cut off.
    let line = Array("\n\(note.text)\n".utf8)
    guard Foundation.write(descriptor, line, line.count) == line.count, fsync(descriptor) == 0 else {
      throw error(path)
    }
  }

  /// Appends a seal for all lines since the last one, if there are any.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``; the line waits for the next call.
  public func seal(at time: DriveTime) throws {
    // Lines that wait are tried again: without that, the answer would be that the disk has them.
    guard let checksum = unsealed else { return try flush() }
    // A seal that waits in memory is in the log before the next line.
    defer { unsealed = nil }
    try write(Seal(bytes: bytes, checksum: checksum).line(at: time))
  }

  private func write(_ json: JSON) throws {
    let line = Array(json.text.utf8) + [UInt8(ascii: "\n")]
    if !waiting.isEmpty { try? flush() }
    bytes += Int64(line.count)
    unsealed = Seal.checksum(line, after: unsealed ?? 0)
    if waiting.count + line.count <= waitingLimit {
      waiting += line
    } else {
      linesDropped += 1
      cells = CellLists()
    }
    try flush()
  }

  private func flush() throws {
    guard !isPaused else { return }
    if descriptor < 0 { try create() }
    while !waiting.isEmpty {
      let written = waiting.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written >= 0 else { throw Self.error(path) }
      waiting.removeFirst(written)
    }
  }

  private static func error(_ path: String) -> DriveLogError {
    let error = errno
    defer { errno = error }
    var disk = statvfs()
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    // ENOSPC means no room or no inodes.
    let hasNoInodes = error == ENOSPC && statvfs(folder, &disk) == 0 && disk.f_files > 0 && disk.f_favail == 0
    return .unwritable(
      path: path,
      reason: hasNoInodes ? "the disk has no inodes left; delete some files" : String(cString: strerror(error)))
  }

  deinit {
    if descriptor >= 0 {
      fsync(descriptor)
      close(descriptor)
    }
  }
}

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

  /// Below zero as long as the file cannot be made.
  private var descriptor: CInt = -1
  /// Where it is.
  public let path: String
  private var waiting: [UInt8] = []
  /// Of all lines that there should be, with those that found no room.
  private var bytes: Int64 = 0
  /// Of those since the last seal; `nil` when there are none.
  private var unsealed: UInt32?
  /// About half an hour of a drive.
  private let waitingLimit = 2 << 20

  /// Creates the log and writes its header.
  /// - Parameter waitsForRoom: Whether its lines wait in memory while the disk has no room for the file, or no inode.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``
  public init(path: String, header: DriveLogHeader, waitsForRoom: Bool = false) throws {
    self.path = path
    do {
      try create()
      try write(header.json)
    } catch {
      guard waitsForRoom, Self.mayPass(errno) else {
        if descriptor >= 0 { unlink(path) }
        throw error
      }
      trouble = "\(error)"
      // Where the file could be made, the header waits already.
      if descriptor < 0 { try? write(header.json) }
    }
  }

  /// Why the file could not be written at first; its lines wait in memory.
  public private(set) var trouble: String?

  private func create() throws {
    // O_EXCL follows no symbolic link.
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.error(path) }
    Self.secure(descriptor, path)
  }

  private static func mayPass(_ error: CInt) -> Bool { [ENOSPC, EDQUOT, EIO].contains(error) }

  /// The way is its driver's alone, whatever the umask says, and what root writes belongs to the owner of the folder.
  private static func secure(_ descriptor: CInt, _ path: String) {
    fchmod(descriptor, 0o600)
    var folder = stat()
    guard geteuid() == 0, stat(URL(fileURLWithPath: path).deletingLastPathComponent().path, &folder) == 0 else {
      return
    }
    fchown(descriptor, folder.st_uid, folder.st_gid)
  }

  /// Creates the log under a name that is not taken in `folder`: a clock that was set back, or that begins at the same time with
  /// each boot, gives a name twice.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``
  public convenience init(newIn folder: String, name: String, header: DriveLogHeader, waitsForRoom: Bool = false) throws
  {
    let paths = (1...1000).map { "\(folder)/\(name)\($0 == 1 ? "" : ".\($0)").jsonl" }
    try self.init(path: paths.first { access($0, F_OK) != 0 } ?? paths[0], header: header, waitsForRoom: waitsForRoom)
  }

  /// Makes all lines so far safe against a power cut.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``
  public func sync() throws {
    try flush()
    // It may be held before there is a file.
    guard descriptor >= 0 else { return }
    guard fdatasync(descriptor) == 0 else { throw Self.error(path) }
  }

  /// - Parameter details: What a reader may like to know besides; replay ignores it.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``, e.g. when the disk is full; the line is kept for the next call.
  public func append(_ event: Event, beside details: [JSON.Member] = []) throws {
    try write(EventLine.json(event, beside: details))
  }

  /// - Throws: as ``append(_:beside:)``
  public func append(_ note: ClockNote) throws { try write(note.json) }

  /// Notes in the log of a drive that is over that one of its sessions was forgotten: what is recovered from it is without that.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``
  public static func noteForgotten(session: Int, in path: String) throws {
    let descriptor = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw error(path) }
    defer { close(descriptor) }
    let note = JSON.object([
      "at": .seconds(DriveTime.start), "forgotten": .object(["session": .integer(Int64(session))]),
    ])
    // The line before may be torn.
    let line = Array("\n\(note.text)\n".utf8)
    guard Foundation.write(descriptor, line, line.count) == line.count, fsync(descriptor) == 0 else {
      throw error(path)
    }
  }

  /// Vouches for all lines since the last call, with a line of its own; does nothing when there are none.
  /// - Throws: ``DriveLogError/unwritable(path:reason:)``; the line is kept for the next call.
  public func seal(at time: DriveTime) throws {
    guard let checksum = unsealed else { return }
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
    }
    try flush()
  }

  private func flush() throws {
    guard !isHeld else { return }
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
    // The kernel has one word for both.
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

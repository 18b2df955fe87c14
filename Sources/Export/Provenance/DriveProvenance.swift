import Coverage
import OrderedJSON
import Store

/// A drive that an export has fences of, and its log at the time of the export.
public struct DriveProvenance: LinkOfDrive, Hashable, Sendable {
  let id: Int64
  let link: String?
  let started: WallTime
  let sessions: [Int64]
  let fences: Int
  private let equipment: [ModemEquipment]
  /// The name of the log.
  private let log: String?
  /// The digest of the log; `nil` when the log is missing.
  let digest: FileDigest?
  /// The settings of the recording, by the log; `nil` without a log that has any.
  let settings: JSON?
  /// The receiver's driver and model, as gpsd named them, by the log; `nil` without a log that has a driver.
  let receiver: String?
  /// Why the log is missing, or its settings are unknown.
  private let trouble: String?

  /// Reads the log, in pieces.
  /// - Parameters:
  ///   - sessions: Its sessions with exported fences, in order; at least one.
  ///   - fences: The number of its exported fences.
  ///   - log: Its log; `nil` when the row of the drive is damaged.
  public init?(of sessions: [StoredSession], fences: Int, log: StoredDriveLog?) {
    guard let session = sessions.first else { return nil }
    (id, link, started) = (session.drive, session.link, session.driveStarted)
    (self.sessions, self.fences) = (sessions.map(\.id), fences)
    equipment = sessions.compactMap(\.session.equipment).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    (self.log, digest, settings, receiver, trouble) = Self.read(log)
  }

  private static func read(_ log: StoredDriveLog?) -> (String?, FileDigest?, JSON?, String?, String?) {
    guard let name = log?.name else { return (nil, nil, nil, nil, "the drive has no log") }
    guard let path = log?.path else { return (name, nil, nil, nil, "the log is no longer there") }
    var digest: FileDigest?
    do {
      digest = try FileDigest(path: path)
      let positions = try LoggedPositions(path: path)
      let settings = positions.header.settings
      return (name, digest, settings == .object([:]) ? nil : settings, try positions.receiver(), nil)
    } catch {
      return (name, digest, nil, nil, "\(error)")
    }
  }

  /// The drives of fences, with their logs.
  /// - Parameters:
  ///   - sessions: The sessions of the fences, each with their number, by id.
  ///   - logs: Those of the store's drives.
  ///   - progress: Receives how many drives are done, and how many there are.
  public static func all(
    of sessions: [Int64: (session: StoredSession, fences: Int)], logs: [Int64: StoredDriveLog],
    progress: (Int, Int) -> Void
  ) -> [DriveProvenance] {
    let ofDrives = Dictionary(grouping: sessions.values, by: { $0.session.drive })
    return ofDrives.sorted { $0.key < $1.key }.enumerated().compactMap { index, entry in
      let (drive, sessions) = entry
      progress(index, ofDrives.count)
      return DriveProvenance(
        of: sessions.map(\.session).sorted { $0.id < $1.id }, fences: sessions.reduce(0) { $0 + $1.fences },
        log: logs[drive])
    }
  }

  /// The log for a table: its name, or why it is missing.
  var logText: (name: String, bytes: Int64?, sha256: String?) {
    let trouble = digest == nil ? trouble : trouble.map { "settings unknown, \($0)" }
    return ([log, trouble].compactMap { $0 }.joined(separator: ": "), digest?.bytes, digest?.sha256)
  }

  var json: JSON {
    let ofLog = JSON.object([
      "name": log.map(JSON.string), "bytes": (digest?.bytes).map(JSON.integer),
      "sha256": (digest?.sha256).map(JSON.string),
      (digest == nil ? "missing" : "settings_missing"): trouble.map(JSON.string),
    ])
    return .object([
      "drive": .integer(id), "link": link.map(JSON.string), "started_at": .string(started.iso8601),
      "sessions": .array(sessions.map(JSON.integer)), "fences": .count(fences), "log": ofLog, "settings": settings,
      "equipment": equipment.listing, "receiver": receiver.map(JSON.string),
    ])
  }

  /// The drive and its log in a line for people.
  var line: String {
    let drive = "drive \(id)" + (link.map { ", link \($0)" } ?? "")
    guard let digest else { return [drive, log, trouble].compactMap { $0 }.joined(separator: ": ") }
    return "\(drive): \(log ?? ""), \(counted(digest.bytes, "byte")), SHA-256 \(digest.sha256)"
      + (trouble.map { ", settings unknown: \($0)" } ?? "")
  }
}

extension [ModemEquipment] {
  /// As JSON; `nil` without any.
  var listing: JSON? { isEmpty ? nil : .array(map(\.json)) }
}

import Coverage
import OrderedJSON
import Store

/// A drive that an export has fences of, and its log at the time of the export.
public struct DriveProvenance: Hashable, Sendable {
  let id: Int64
  let link: String?
  let started: WallTime
  let sessions: [Int64]
  let fences: Int
  private let equipment: [ModemEquipment]
  private let log: Log

  /// What is left of the log.
  private enum Log: Hashable, Sendable {
    case read(name: String, FileDigest, settings: JSON?, unreadable: String?)
    case missing(name: String?, reason: String)
  }

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
    self.log = Self.read(log)
  }

  private static func read(_ log: StoredDriveLog?) -> Log {
    guard let name = log?.name else { return .missing(name: nil, reason: "the drive has no log") }
    guard let path = log?.path else { return .missing(name: name, reason: "the log is no longer there") }
    do {
      let digest = try FileDigest(path: path)
      do {
        let settings = try LoggedPositions(path: path).header.settings
        return .read(name: name, digest, settings: settings == .object([:]) ? nil : settings, unreadable: nil)
      } catch {
        return .read(name: name, digest, settings: nil, unreadable: "\(error)")
      }
    } catch {
      return .missing(name: name, reason: "\(error)")
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

  /// The settings of the recording, by the log; `nil` without a log that has any.
  var settings: JSON? { if case .read(_, _, let settings, _) = log { settings } else { nil } }

  /// The log for a table: its name, or why it is missing.
  var logText: (name: String, bytes: Int64?, sha256: String?) {
    switch log {
    case .read(let name, let digest, _, let unreadable):
      (unreadable.map { "\(name): settings unknown, \($0)" } ?? name, digest.bytes, digest.sha256)
    case .missing(let name, let reason): (name.map { "\($0): \(reason)" } ?? reason, nil, nil)
    }
  }

  /// The digest of the log; `nil` when the log is missing.
  var digest: FileDigest? { if case .read(_, let digest, _, _) = log { digest } else { nil } }

  var json: JSON {
    let (ofLog, settings): (JSON, JSON?) =
      switch log {
      case .read(let name, let digest, let settings, let unreadable):
        (
          .object([
            "name": .string(name), "bytes": .integer(digest.bytes), "sha256": .string(digest.sha256),
            "settings_missing": unreadable.map(JSON.string),
          ]), settings
        )
      case .missing(let name, let reason):
        (.object(["name": name.map(JSON.string), "missing": .string(reason)]), nil)
      }
    return .object([
      "drive": .integer(id), "link": link.map(JSON.string), "started_at": .string(started.iso8601),
      "sessions": .array(sessions.map(JSON.integer)), "fences": .count(fences), "log": ofLog, "settings": settings,
      "equipment": equipment.listing,
    ])
  }

  /// The drive and its log in a line for people.
  var line: String {
    let drive = "drive \(id)" + (link.map { ", link \($0)" } ?? "")
    return switch log {
    case .read(let name, let digest, _, let unreadable):
      "\(drive): \(name), \(counted(digest.bytes, "byte")), SHA-256 \(digest.sha256)"
        + (unreadable.map { ", settings unknown: \($0)" } ?? "")
    case .missing(let name, let reason): "\(drive): \(name.map { "\($0): " } ?? "")\(reason)"
    }
  }
}

extension [ModemEquipment] {
  /// As JSON; `nil` without any.
  var listing: JSON? { isEmpty ? nil : .array(map(\.json)) }
}

import Coverage
import Export
import Foundation
import OrderedJSON
import Service
import Settings
import Store

/// `show`: the evidence of one fence, from its row in the store to the lines of the drive log that made it (docs/export.md, "From a figure to
/// its evidence").
struct Showing {
  private let evidence: FenceEvidence
  private let isWriterAlive: Bool
  /// The log at the time of reading; `nil` when it is missing.
  private let log: Log?
  /// The lines and the replay; `nil` without the log, and when the log does not give the fence.
  private let trace: FenceTrace?
  /// Why the log does not confirm the fence, in one line; `nil` when it does.
  let doubt: String?

  private struct Log {
    let path: String
    let digest: FileDigest
    let positions: LoggedPositions
  }

  /// - Throws: `StoreError`, ``CommandFailure``, `DamagedFence`, GRDB's `DatabaseError`
  init(configuration: ProbeConfiguration, fence name: FenceName) throws {
    let reader = try StoreReader(directory: StateDirectory(path: configuration.stateDirectory))
    guard let evidence = try reader.evidence(of: name) else { throw name.missing }
    (self.evidence, isWriterAlive) = (evidence, reader.isWriterAlive)
    guard let path = evidence.log.path else {
      (log, trace) = (nil, nil)
      doubt =
        evidence.log.name.map { "the drive log \($0) is missing: nothing confirms the fence" }
        ?? "the drive was recorded without a log: nothing confirms the fence"
      return
    }
    var (log, trace, doubt): (Log?, FenceTrace?, String?) = (nil, nil, nil)
    do {
      let read = Log(path: path, digest: try FileDigest(path: path), positions: try LoggedPositions(path: path))
      log = read
      trace = try FenceTrace(of: evidence.stored.fence, in: read.positions)
      doubt = Self.doubt(evidence.stored, trace)
    } catch let error as DriveLogError {
      doubt = "\(error)"
    }
    (self.log, self.trace, self.doubt) = (log, trace, doubt)
  }

  /// The differences between the stored fence and the replayed one, in words.
  private static func doubt(_ stored: StoredFence, _ trace: FenceTrace?) -> String? {
    guard let trace else { return "the drive log gives no fence that begins there and then" }
    let own = FenceRecord(stored)
    let differences = own.differences(from: own.with(trace.fence)).map {
      "\($0.column) is \($0.own ?? "absent") in the store, \($0.other ?? "absent") by the log"
    }
    guard !differences.isEmpty else { return nil }
    let end = trace.last == nil ? "ends within the fence, and " : ""
    return "the drive log \(end)gives another fence: " + differences.joined(separator: "; ")
  }

  // MARK: For people

  /// Writes the evidence, line by line.
  /// - Throws: `DriveLogError`
  func write(isComplete: Bool, _ print: (String) -> Void) throws {
    let (stored, session) = (evidence.stored, evidence.session)
    print("fence \(stored.id), number \(stored.fence.number) of drive \(session.drive)")
    let values = FenceRecord(stored).values.map { ["  " + $0.column, ForeignText.clean($0.text, limit: 2000)] }
    print(AlignedTable.text(values))
    let link = session.link.map { ", link \($0)" } ?? ""
    let stop = evidence.stopReason.map { ", ended: \($0)" } ?? ""
    print("drive \(session.drive)\(link), started \(session.driveStarted.iso8601)\(stop)")
    print(
      "session \(session.id): \(session.state(isWriterAlive: isWriterAlive).rawValue), \(counted(session.fences, "fence"))"
        + (session.quarantineReason.map { "; quarantined: \(ForeignText.clean($0))" } ?? ""))
    if let equipment = session.session.equipment { print("modem: \(ForeignText.clean(equipment.words, limit: 400))") }
    if let batch = evidence.batch { print(Self.line(batch)) }
    guard let log else { return }
    print("drive log \(log.path), \(counted(log.digest.bytes, "byte"))")
    print("  SHA-256 \(log.digest.sha256)")
    guard let trace else { return }
    if isComplete {
      print("\(counted(trace.lines.count, "line")) of it lie in the time of the fence:")
      try Self.lines(log.positions, Set(trace.lines), print)
    } else {
      print("opened by line \(trace.first.number):\n" + Self.line(trace.first))
      if let last = trace.last { print("ended by line \(last.number):\n" + Self.line(last)) }
    }
    if trace.last == nil { print("the drive log ends within the fence") }
    if trace.unreadable > 0 { print("\(counted(trace.unreadable, "line")) of the drive log cannot be read") }
    if doubt == nil { print("the drive log gives the same fence again") }
  }

  private static func line(_ line: FenceTrace.Line) -> String {
    "  \(line.number): \(ForeignText.clean(line.text, limit: 4000))"
  }

  private static func line(_ batch: FenceEvidence.Batch) -> String {
    let answer =
      switch batch.state {
      case "submitted": "accepted by the server" + (batch.settled.map { " \($0.iso8601)" } ?? "")
      case "quarantined": "quarantined" + (batch.reason.map { ": \(ForeignText.clean($0))" } ?? "")
      case "sending": "sent, the answer is unknown" + (batch.sent.map { ": \($0.iso8601)" } ?? "")
      default: "not sent yet"
      }
    return "batch: \(answer)" + (batch.test.map { ", test \(ForeignText.clean($0, limit: 40))" } ?? "")
      + ", \(counted(batch.attempts, "attempt"))"
  }

  /// The lines with these numbers, read in pieces.
  private static func lines(_ log: LoggedPositions, _ numbers: Set<Int>, _ print: (String) -> Void) throws {
    let last = numbers.max() ?? 0
    _ = try log.forEachLine { number, line, _ in
      if numbers.contains(number) {
        print("  \(number): \(ForeignText.clean(String(decoding: line, as: UTF8.self), limit: 4000))")
      }
      return number < last
    }
  }

  // MARK: For programs

  var json: String {
    let drive = JSON.object([
      "id": .integer(evidence.session.drive), "link": evidence.session.link.map(JSON.string),
      "started_at": .string(evidence.session.driveStarted.iso8601), "stop_reason": evidence.stopReason.map(JSON.string),
    ])
    let batch = evidence.batch.map { batch in
      JSON.object([
        "state": .string(batch.state), "test_uuid": batch.test.map(JSON.string),
        "attempts": .integer(Int64(batch.attempts)), "sent_at": batch.sent.map { .string($0.iso8601) },
        "settled_at": batch.settled.map { .string($0.iso8601) }, "reason": batch.reason.map(JSON.string),
      ])
    }
    let log = JSON.object([
      "name": evidence.log.name.map(JSON.string), "path": (self.log?.path).map(JSON.string),
      "bytes": (self.log?.digest.bytes).map(JSON.integer), "sha256": (self.log?.digest.sha256).map(JSON.string),
    ])
    let lines = trace.map { trace in
      JSON.object([
        "first": .integer(Int64(trace.first.number)), "last": trace.last.map { .integer(Int64($0.number)) },
        "all": .array(trace.lines.map { .integer(Int64($0)) }),
      ])
    }
    return JSON.object([
      "fence": FenceRecord(evidence.stored).json,
      "session": SessionListing.json(evidence.session, isWriterAlive: isWriterAlive), "drive": drive, "batch": batch,
      "log": log, "lines": lines, "is_confirmed": .bool(doubt == nil), "doubt": doubt.map(JSON.string),
    ]).text
  }
}

extension FenceName {
  /// The store has no such fence.
  fileprivate var missing: CommandFailure {
    switch self {
    case .id(let id): CommandFailure("there is no fence \(id); exports have the ids of fences")
    case .number(let session, let number):
      CommandFailure("session \(session) has no fence with the number \(number)")
    }
  }
}

import Coverage
import Export
import OrderedJSON
import Service
import Store

/// `report --verify`: the fences and figures of a report, computed again from the drive logs and compared with those of the store
/// (docs/report.md, Verification).
struct ReportVerification {
  /// Whether every fence has an undamaged log, and all fences and figures are the same.
  let agrees: Bool

  /// A fence by what a log and the store both know: numbers can differ in a log that was damaged.
  private struct Key: Hashable {
    let entered: DriveTime
    let centre: Coordinate

    init(_ fence: Fence) { (entered, centre) = (fence.entered, fence.centre) }
  }

  /// The drive logs, and the fences of those that were read last.
  private struct Logs {
    private let reader: StoreReader
    private let logs: [Int64: StoredDriveLog]
    private var read: [(drive: Int64, fences: [Key: Fence])] = []
    private var isRunning: [Int64: Bool] = [:]
    /// Why a log cannot be used, by drive.
    private(set) var missing: [Int64: String] = [:]
    /// Of each drive whose log was read, the fences that the store lacks.
    private(set) var lacking: [Int64: LackingFences] = [:]
    /// The drives whose logs have lines that cannot be read.
    private(set) var garbled: Set<Int64> = []

    /// Drives of several links follow each other session by session.
    private static let most = 8

    private let retention: Retention

    init(_ reader: StoreReader, _ retention: Retention) throws {
      (self.reader, self.retention, logs) = (reader, retention, try reader.driveLogs())
    }

    /// The drives whose logs are there, in order.
    var drives: [Int64] { logs.filter { $0.value.path != nil }.keys.sorted() }

    /// The numbers of a drive's sessions in the store.
    func sessions(of drive: Int64) -> Set<Int> { logs[drive]?.sessions ?? [] }

    /// The store has the fence that the log of its drive gives.
    mutating func confirm(_ logged: Fence, as stored: StoredFence) {
      lacking[stored.session.drive]?.confirm(logged.number, as: stored)
    }

    /// Whether a process still records the drive: its log and its rows change while they are read.
    mutating func isRunning(_ drive: Int64) -> Bool {
      if let known = isRunning[drive] { return known }
      let isOpen = logs[drive].map { !$0.hasEnded } ?? (drive > logs.keys.max() ?? 0)
      let runs = isOpen && reader.isWriterAlive
      isRunning[drive] = runs
      return runs
    }

    /// The fences of a drive by its log; `nil` without one.
    /// - Parameters:
    ///   - session: A session of the drive; `nil` when the store has none.
    ///   - differ: Receives a line for each damage of the log, and for what the store knows otherwise of the drive.
    mutating func fences(of drive: Int64, _ session: StoredSession?, _ differ: (String) -> Void) -> [Key: Fence]? {
      if let found = read.first(where: { $0.drive == drive }) { return found.fences }
      guard missing[drive] == nil else { return nil }
      do {
        guard let name = logs[drive]?.name else { throw CommandFailure("it has no drive log") }
        guard let path = logs[drive]?.path else { throw CommandFailure("the drive log \(name) is missing") }
        let log = try RecordedDrive(path: path)
        let found = Dictionary(log.replayedFences().map { (Key($0), $0) }) { first, _ in first }
        if lacking[drive] == nil {
          lacking[drive] = LackingFences(found.values, of: log, retention)
          for line in Self.damage(of: log) + Self.differences(of: log, session) { differ("drive \(drive): \(line)") }
        }
        if !log.garbage.isEmpty { garbled.insert(drive) }
        if read.count == Self.most { read.removeFirst() }
        read.append((drive, found))
      } catch {
        missing[drive] = "\(error)"
        return nil
      }
      return read.last?.fences
    }

    private static func damage(of log: RecordedDrive) -> [String] {
      var lines: [String] = []
      if let first = log.garbage.first {
        lines.append(
          "\(counted(log.garbage.count, "line")) of the drive log cannot be read, the first is line \(first.number)")
      }
      if !log.isHeaderSealed { lines.append("no seal confirms the first line of the drive log") }
      if !log.unsealed.isEmpty {
        lines.append("\(counted(log.unsealed.count, "part")) of the drive log: no seal confirms the events there")
      }
      return lines
    }

    /// What the store and the log know of the whole drive.
    private static func differences(of log: RecordedDrive, _ session: StoredSession?) -> [String] {
      guard let session else { return [] }
      let started = log.correctedStart
      var values = [
        ("link", session.link, log.header.link), ("target", session.target, log.header.target?.description),
      ]
      // The log has the start to the millisecond.
      if session.driveStarted.microseconds.saturatingSubtracting(started.microseconds).saturatingMagnitude > 1000 {
        values.append(("started_at", session.driveStarted.iso8601, started.iso8601))
      }
      return values.filter { $0.1 != $0.2 }.map {
        "\($0.0) is \($0.1 ?? "absent") in the store, \($0.2 ?? "absent") by the log"
      }
    }
  }

  /// Reads the store and the logs.
  /// - Parameter print: Receives the result, line by line as it is found: each difference, each missing log, then the verdict.
  /// - Throws: GRDB's `DatabaseError`
  init(_ reporting: Reporting, progress: WorkProgress = .none, print: (String) -> Void) throws {
    var logs = try Logs(reporting.reader, reporting.retention)
    var stored = reporting.choices.map { _ in ReportFigures(areas: reporting.options.areas) }
    var replayed = stored
    let grid = PlaceGrid(metres: reporting.options.placeMetres)
    var comparisons = [PlaceComparison(grid: grid), PlaceComparison(grid: grid)]
    var (unconfirmed, confirmed, running): ([Int64: Int], Set<Int64>, Set<Int64>) = ([:], [], [])
    var (differences, fences): (Int, Int) = (0, 0)
    func say(_ line: String) { print(ForeignText.clean(line, limit: 2000)) }
    func differ(_ line: String) {
      differences += 1
      say(line)
    }
    try reporting.forEachFence(progress) { index, fence in
      let drive = fence.session.drive
      if logs.isRunning(drive) {
        if running.insert(drive).inserted { say("drive \(drive) is being recorded: it is left out") }
        return
      }
      guard let found = logs.fences(of: drive, fence.session, differ) else {
        unconfirmed[drive, default: 0] += 1
        return
      }
      stored[index].add(fence)
      fences += 1
      let side = PlaceComparison.Side(rawValue: index)
      if let side { comparisons[0].add(fence.fence, to: side) }
      guard let again = found[Key(fence.fence)] else {
        differ("fence \(fence.id) of drive \(drive): the drive log gives no fence that begins there and then")
        return
      }
      confirmed.insert(drive)
      logs.confirm(again, as: fence)
      replayed[index].add(StoredFence(id: fence.id, session: fence.session, fence: again))
      if let side { comparisons[1].add(again, to: side) }
      let own = FenceRecord(fence)
      for difference in own.differences(from: own.with(again)) {
        differ(
          """
          fence \(fence.id) of drive \(drive): \(difference.column) is \(difference.own ?? "absent") in the store, \
          \(difference.other ?? "absent") by the log
          """)
      }
    }
    var deleted = 0
    if Self.hasAll(reporting.choices) {
      for drive in logs.drives where unconfirmed[drive] == nil && !logs.isRunning(drive) {
        if logs.lacking[drive] == nil, logs.fences(of: drive, nil, differ) == nil {
          differ("drive \(drive): \(logs.missing[drive] ?? "no log")")
        }
        guard let lacking = logs.lacking[drive] else { continue }
        let gone = lacking.deleted(sessions: logs.sessions(of: drive))
        let missing = lacking.count - gone
        deleted += gone
        if missing > 0 {
          differ("drive \(drive): the drive log gives \(counted(missing, "fence")) that the store does not have")
        }
      }
    }
    var complained = logs.garbled
    let leaves = try [stored, replayed].enumerated().map { side, figures in
      let parts = try figures.map { figures in
        var figures = figures
        try reporting.end(&figures, progress) { drive, line in if complained.insert(drive).inserted { differ(line) } }
        return Report.Part(title: "", figures: figures)
      }
      return Self.leaves(
        Report(parts: parts, comparison: parts.count > 1 ? comparisons[side] : nil, least: reporting.options.least))
    }
    for path in Set(leaves[0].keys).union(leaves[1].keys).sorted() where leaves[0][path] != leaves[1][path] {
      differ("\(path): \(leaves[0][path] ?? "absent") by the store, \(leaves[1][path] ?? "absent") by the logs")
    }
    for (drive, count) in unconfirmed.sorted(by: { $0.key < $1.key }) {
      say(
        "drive \(drive): \(logs.missing[drive] ?? "no log"): \(counted(count, "fence is", "fences are")) not confirmed, and in no figure here"
      )
    }
    agrees = differences == 0 && unconfirmed.isEmpty && fences > 0
    say(
      """
      \(counted(leaves[0].count, "figure")) and \(counted(fences, "fence")) of \(counted(confirmed.count, "drive")) computed again from the drive logs: \
      \(differences == 0 ? fences > 0 ? "all agree" : "nothing to compare" : "\(counted(differences, "difference"))")\
      \(unconfirmed.isEmpty ? "" : "; \(counted(unconfirmed.count, "drive")) without a log")\
      \(running.isEmpty ? "" : "; \(counted(running.count, "drive")) being recorded")\
      \(deleted == 0 ? "" : "; \(counted(deleted, "fence")) deleted from the store"). Speed tests are in the store only.
      """)
  }

  /// Whether all fences of the store are selected, so that the logs can have none beyond them.
  private static func hasAll(_ choices: [Reporting.Choice]) -> Bool {
    choices.count == 1 && choices[0].state == .all && choices[0].sessions.isEmpty && choices[0].filter == FenceFilter()
  }

  /// The numbers and words of a report, by their paths; without the texts about methods.
  private static func leaves(_ report: Report) -> [String: String] {
    var leaves: [String: String] = [:]
    func walk(_ value: JSON, _ head: String, _ path: String) {
      switch value {
      case .object(let members):
        for member in members where !member.key.hasSuffix("method") {
          walk(member.value, head, path.isEmpty ? member.key : "\(path).\(member.key)")
        }
      case .array(let values): for (index, value) in values.enumerated() { walk(value, head, "\(path)[\(index)]") }
      default: if path != "title" { leaves[head + path] = value.text }
      }
    }
    guard case .object(let members) = report.json else { return [:] }
    for member in members {
      if member.key == "parts", case .array(let parts) = member.value {
        for (index, part) in parts.enumerated() { walk(part, parts.count > 1 ? "selection \(index + 1), " : "", "") }
      } else if member.key == "comparison" {
        walk(member.value, "", member.key)
      }
    }
    return leaves
  }
}

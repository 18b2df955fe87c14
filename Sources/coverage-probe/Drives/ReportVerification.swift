import Coverage
import Export
import OrderedJSON
import Store

/// `report --verify`: the fences and figures of a report, computed again from the drive logs and compared with those of the store
/// (docs/report.md, Verification).
struct ReportVerification {
  /// The result, line by line: each difference, each missing log, then the verdict.
  private(set) var lines: [String] = []
  /// Whether every fence has a log, and all fences and figures are the same.
  private(set) var agrees = false

  /// A fence by what a log and the store both know: numbers can differ in a log that was damaged.
  private struct Key: Hashable {
    let entered: DriveTime
    let centre: Coordinate

    init(_ fence: Fence) { (entered, centre) = (fence.entered, fence.centre) }
  }

  /// The fences of the logs that were read last.
  private struct Logs {
    private let reader: StoreReader
    private let logs: [Int64: StoredDriveLog]
    private var read: [(drive: Int64, fences: [Key: Fence])] = []
    /// Why a log cannot be used, by drive.
    private(set) var missing: [Int64: String] = [:]
    /// Of each drive whose log was read, the number of its fences.
    private(set) var counts: [Int64: Int] = [:]

    /// Drives of several links follow each other session by session.
    private static let most = 8

    init(_ reader: StoreReader) throws { (self.reader, logs) = (reader, try reader.driveLogs()) }

    /// The fences of a drive by its log; `nil` without one.
    mutating func fences(of drive: Int64) -> [Key: Fence]? {
      if let found = read.first(where: { $0.drive == drive }) { return found.fences }
      guard missing[drive] == nil else { return nil }
      guard let name = logs[drive]?.name else {
        missing[drive] = "it has no drive log"
        return nil
      }
      guard let path = logs[drive]?.path else {
        missing[drive] = "the drive log \(name) is missing"
        return nil
      }
      do {
        let fences = try RecordedDrive(path: path).replayedFences()
        if read.count == Self.most { read.removeFirst() }
        read.append((drive, Dictionary(fences.map { (Key($0), $0) }) { first, _ in first }))
        counts[drive] = fences.count
      } catch {
        missing[drive] = "\(error)"
        return nil
      }
      return read.last?.fences
    }
  }

  /// Reads the store and the logs.
  /// - Throws: GRDB's `DatabaseError`
  init(_ reporting: Reporting, progress: WorkProgress = .none) throws {
    var logs = try Logs(reporting.reader)
    var stored = reporting.choices.map { _ in ReportFigures(areas: reporting.options.areas) }
    var replayed = stored
    var (unconfirmed, confirmed): ([Int64: Int], [Int64: Int]) = ([:], [:])
    var (differences, fences): (Int, Int) = (0, 0)
    try reporting.forEachFence(progress) { index, fence in
      let drive = fence.session.drive
      guard let found = logs.fences(of: drive) else {
        unconfirmed[drive, default: 0] += 1
        return
      }
      let reported = ReportedFence(fence)
      stored[index].add(reported)
      fences += 1
      guard let again = found[Key(fence.fence)] else {
        differences += 1
        lines.append("fence \(fence.id) of drive \(drive): the drive log gives no fence that begins there and then")
        return
      }
      confirmed[drive, default: 0] += 1
      replayed[index].add(reported.with(again))
      let own = FenceRecord(fence)
      for difference in own.differences(from: own.with(again)) {
        differences += 1
        lines.append(
          """
          fence \(fence.id) of drive \(drive): \(difference.column) is \(difference.own ?? "absent") in the store, \
          \(difference.other ?? "absent") by the log
          """)
      }
    }
    if Self.hasAll(reporting.choices) {
      // The open fence of a running drive ends where its log ends.
      let open = reporting.reader.isWriterAlive ? 1 : 0
      for (drive, count) in logs.counts.sorted(by: { $0.key < $1.key }) where count > (confirmed[drive] ?? 0) + open {
        differences += 1
        lines.append(
          "drive \(drive): the drive log gives \(counted(count - (confirmed[drive] ?? 0), "fence")) that the store does not have"
        )
      }
    }
    var figures = 0
    for index in stored.indices {
      let values = try [stored[index], replayed[index]].map { figures in
        var figures = figures
        try reporting.end(&figures, progress) { _ in }
        return Self.leaves(
          Report(parts: [.init(title: "", figures: figures)], comparison: nil).json)
      }
      figures += values[0].count
      let head = stored.count > 1 ? "selection \(index + 1), " : ""
      for path in Set(values[0].keys).union(values[1].keys).sorted() where values[0][path] != values[1][path] {
        differences += 1
        lines.append(
          "\(head)\(path): \(values[0][path] ?? "absent") by the store, \(values[1][path] ?? "absent") by the logs")
      }
    }
    for (drive, count) in unconfirmed.sorted(by: { $0.key < $1.key }) {
      lines.append(
        "drive \(drive): \(logs.missing[drive] ?? "no log"): \(counted(count, "fence is", "fences are")) not confirmed, and in no figure here"
      )
    }
    agrees = differences == 0 && unconfirmed.isEmpty && fences > 0
    lines.append(
      """
      \(counted(figures, "figure")) and \(counted(fences, "fence")) of \(counted(confirmed.count, "drive")) computed again from the drive logs: \
      \(differences == 0 ? fences > 0 ? "all agree" : "nothing to compare" : "\(counted(differences, "difference"))")\
      \(unconfirmed.isEmpty ? "" : "; \(counted(unconfirmed.count, "drive")) without a log"). Speed tests are in the store only.
      """)
  }

  /// Whether all fences of the store are selected, so that the logs can have none beyond them.
  private static func hasAll(_ choices: [Reporting.Choice]) -> Bool {
    choices.count == 1 && choices[0].state == .all && choices[0].sessions.isEmpty && choices[0].filter == FenceFilter()
  }

  /// The numbers and words of a report, by their paths; without the texts about methods.
  private static func leaves(_ json: JSON) -> [String: String] {
    var leaves: [String: String] = [:]
    func walk(_ value: JSON, _ path: String) {
      switch value {
      case .object(let members):
        for member in members where !member.key.hasSuffix("method") {
          walk(member.value, path.isEmpty ? member.key : "\(path).\(member.key)")
        }
      case .array(let values): for (index, value) in values.enumerated() { walk(value, "\(path)[\(index)]") }
      default: leaves[path] = value.text
      }
    }
    if case .object(let members) = json, let parts = members.first(where: { $0.key == "parts" })?.value,
      case .array(let values) = parts, let part = values.first
    {
      walk(part, "")
    }
    leaves["title"] = nil
    return leaves
  }
}

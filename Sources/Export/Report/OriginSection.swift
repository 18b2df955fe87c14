import Coverage
import OrderedJSON

/// What a report rests on: the facts below its title, and the table of drives with their sessions and logs. What no drive recorded is left out.
struct OriginSection {
  let report: Report

  // MARK: Facts

  /// The facts of all parts together, as a list of names and values.
  var facts: String {
    let items = [made] + known.map { ($0.name, $0.value) }
    return "<dl class=\"facts\">"
      + items.compactMap { name, value in
        value.map { "<div><dt>\(name)</dt><dd>\(Markup.escaped($0).replacing("\n", with: "<br>"))</dd></div>" }
      }.joined() + "</dl>"
  }

  private var made: (name: String, value: String?) {
    let origin = report.origin
    let by = origin.author.map { " by \($0)" } ?? ""
    return ("made", origin.made.map { "\(Markup.moment($0))\(by), \(Program.name) \(Program.version)" })
  }

  /// What the drives recorded: operator and SIM, the device, clock and target, settings.
  private var known: [(name: String, value: String?)] {
    [
      ("operator", each { Self.list($0.operators) }), ("SIM of", each { Self.list($0.simOperators) }),
      ("roaming", each { $0.roaming > 0 ? counted($0.roaming, "fence") : nil }),
      ("ping target of the drives", each { Self.list($0.targets.sorted(), ", ") }),
      ("control server, as set now", each { $0.hasServer ? report.origin.server : nil }),
      ("receiver, by gpsd", Self.list(Array(Set(drives.compactMap(\.receiver))).sorted(), ", ")),
      ("receiver, as set now", report.origin.receiver),
      ("time from", each { Self.clocks($0.clocks) }),
      ("settings", settings), ("declared, in place of kernel and modem", declared),
      ("store", report.parts.first?.provenance?.storeID),
    ]
  }

  /// A fact of each part: one line when the parts have the same, else a line for each.
  private func each(_ fact: (DriveFacts) -> String?) -> String? {
    let values = report.parts.map { fact($0.figures.breakdown.facts) }
    if Set(values).count < 2 { return values.first ?? nil }
    return zip(report.heads, values).map { "\($0): \($1 ?? "–")" }.joined(separator: "\n")
  }

  /// The names that the page lists; JSON has more.
  private static let mostNames = 12

  /// Names with the numbers of their fences, the most frequent first.
  private static func list(_ counts: [String: Int]) -> String? {
    let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    return list(sorted.map { counts.count > 1 ? "\($0.key): \(counted($0.value, "fence"))" : $0.key }, "; ")
  }

  private static func list(_ names: [String], _ separator: String) -> String? {
    let more = names.count > mostNames ? "\(separator)and \(names.count - mostNames) more" : ""
    return names.isEmpty ? nil : names.prefix(mostNames).joined(separator: separator) + more
  }

  private static func clocks(_ names: Set<String>) -> String? {
    guard !names.isEmpty else { return nil }
    let words = ["gnss": "GNSS", "server": "the control server", "host": "this host"]
    return names.sorted().map { words[$0] ?? $0 }.joined(separator: ", ")
  }

  /// The settings of the recording by the drive logs; of several, only that they differ. Without any log, those at the report.
  private var settings: String? {
    let provenances = report.parts.compactMap(\.provenance)
    let recorded = Set(provenances.flatMap(\.drives).compactMap(\.settings).map { Self.split($0).settings })
    if recorded.count > 1 { return "differ from drive to drive: JSON has them (parts.provenance.drives)" }
    guard let settings = recorded.first else {
      return provenances.first.map { "as set now: " + Self.flat($0.configuration) }
    }
    return Self.flat(settings)
  }

  private var drives: [DriveProvenance] { report.parts.compactMap(\.provenance).flatMap(\.drives) }

  /// What the operator declared of each link, by the drive logs.
  private var declared: String? {
    let words = drives.compactMap { drive in
      drive.settings.flatMap { Self.split($0).declared }.map { (drive.link.map { "\($0): " } ?? "") + Self.flat($0) }
    }
    return Self.list(Array(Set(words)).sorted(), "; ")
  }

  private static func split(_ settings: JSON) -> (settings: JSON, declared: JSON?) {
    guard case .object(let members) = settings else { return (settings, nil) }
    return (.object(members.filter { $0.key != "declared" }), members.first { $0.key == "declared" }?.value)
  }

  /// The leaves of an object in a line, with their units: `minimum radius 15 m, ping interval 0.1 s`.
  private static func flat(_ json: JSON, of part: String = "") -> String {
    guard case .object(let members) = json else { return json.text }
    return members.map { member in
      let name = part + member.key.replacing("_", with: " ")
      switch member.value {
      case .object: return flat(member.value, of: member.key == "pings" ? "ping " : "")
      case .null: return "\(name) none"
      case .string(let text): return "\(name) \(ForeignText.clean(text))"
      default:
        let number = member.value.text.hasSuffix(".0") ? String(member.value.text.dropLast(2)) : member.value.text
        let isLength = ["radius", "limit"].contains { name.hasSuffix($0) }
        return "\(name) \(number) \(name.contains("speed") ? "m/s" : isLength ? "m" : "s")"
      }
    }.joined(separator: ", ")
  }

  // MARK: Sources

  /// What the figures of a table rest on, for its caption: the sessions of each part, and their drive logs, with a link to ``sources``.
  static func reference(_ report: Report) -> String {
    let texts = zip(report.heads, report.parts).compactMap { head, part -> String? in
      guard let drives = part.provenance?.drives, !drives.isEmpty else { return nil }
      let logs = drives.count { $0.digest != nil }
      return (report.parts.count > 1 ? "\(Markup.escaped(head)): " : "")
        + "\(words(drives.flatMap(\.sessions))), \(counted(logs, "drive log"))"
    }
    return texts.isEmpty ? "" : " <a class=\"from\" href=\"#sources\">\(texts.joined(separator: "; "))</a>"
  }

  /// The drives of each part with their sessions, logs and digests.
  var sources: String {
    let tables = report.parts.enumerated().compactMap { index, part in
      part.provenance.flatMap { table($0, report.parts.count > 1 ? ": \(Markup.escaped(report.heads[index]))" : "") }
    }
    let none =
      report.hasLogs ? "" : "<p>No drive log is there: figures of single pings are missing and cannot be checked.</p>"
    return tables.isEmpty ? "" : "<h2 id=\"sources\">Sources</h2>\(none)\(tables.joined())"
  }

  private func table(_ provenance: ExportProvenance, _ title: String) -> String? {
    let drives = provenance.drives
    guard !drives.isEmpty else { return nil }
    let most = report.mostRows
    return Markup.table(
      "Drives, sessions and drive logs\(title)\(report.note(.sources))",
      ["drive", "started", "sessions", "fences", "bytes", "drive log, with its SHA-256"],
      drives.prefix(most).map { drive in
        let log = drive.logText
        return [
          "\(drive.id)" + (drive.link.map { ", \(Markup.escaped($0))" } ?? ""), Markup.moment(drive.started),
          Self.ranges(drive.sessions), "\(drive.fences)", log.bytes.map { "\($0)" } ?? "–",
          Markup.escaped(log.name) + (log.sha256.map { "<br><span class=\"digest\">\($0)</span>" } ?? ""),
        ]
      }, more: drives.count - most)
  }

  static func words(_ sessions: [Int64]) -> String {
    (sessions.count > 1 ? "sessions " : "session ") + ranges(sessions)
  }

  /// Numbers in order, runs shortened: `1 to 3, 7`.
  private static func ranges(_ numbers: [Int64]) -> String {
    var runs: [ClosedRange<Int64>] = []
    for number in numbers.sorted() {
      if let last = runs.last, number.saturatingSubtracting(1) == last.upperBound {
        runs[runs.count - 1] = last.lowerBound...number
      } else {
        runs.append(number...number)
      }
    }
    let rest = runs.count > 8 ? " and others" : ""
    return runs.prefix(8).map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }.joined(
      separator: ", ") + rest
  }
}

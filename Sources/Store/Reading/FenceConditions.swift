import Coverage
import GRDB

/// Conditions on fences, for reads of a part of the store: a row that does not meet them is not checked for damage either. All of them
/// must hold; one that is `nil` or empty holds for all.
public struct FenceConditions: Hashable, Sendable {
  public var sessions: Set<Int64> = []
  public var links: Set<String> = []
  /// Fences that began at this time or later.
  public var from: WallTime?
  /// Fences that began before this time.
  public var to: WallTime?
  /// Degrees north of the centre.
  public var latitudes: ClosedRange<Double>?
  /// Degrees east of the centre.
  public var longitudes: ClosedRange<Double>?
  /// Names of technologies on the wire; `NONE` also stands for fences in which none was seen.
  public var technologies: Set<String> = []

  public init() {}

  func include(_ session: StoredSession) -> Bool { links.isEmpty || session.link.map(links.contains) ?? false }

  /// The condition on a row of `main.session`.
  var onSession: String {
    sessions.isEmpty ? "TRUE" : "session.id IN (\(sessions.sorted().map(String.init).joined(separator: ", ")))"
  }

  /// The condition on a row of `main.fence`: it is intact and meets the conditions. `CASE` has the checksum come last: it costs most.
  var onFence: SQL {
    let isIntact = SQL(sql: RowChecksum.isIntact("fence"))
    let all = values
    return all.isEmpty ? isIntact : "CASE WHEN \(all.joined(separator: " AND ")) THEN \(isIntact) ELSE FALSE END"
  }

  /// The same without a look at the checksum.
  var onValues: SQL { values.isEmpty ? "TRUE" : values.joined(separator: " AND ") }

  /// The condition on the session of a row of `main.fence`.
  var onItsSession: SQL {
    let ofLinks: SQL =
      links.isEmpty ? "TRUE" : "drive_id IN (SELECT id FROM main.drive WHERE link IN \(links.sorted()))"
    return "fence.session_id IN (SELECT id FROM main.session WHERE \(SQL(sql: onSession)) AND \(ofLinks))"
  }

  private var values: [SQL] {
    var all: [SQL] = []
    if let from { all.append("fence.entered_at >= \(from.microseconds)") }
    if let to { all.append("fence.entered_at < \(to.microseconds)") }
    if let latitudes { all.append("fence.latitude BETWEEN \(latitudes.lowerBound) AND \(latitudes.upperBound)") }
    if let longitudes { all.append("fence.longitude BETWEEN \(longitudes.lowerBound) AND \(longitudes.upperBound)") }
    if !technologies.isEmpty {
      all.append("coalesce(fence.technology, \(Technology.none.name)) IN \(technologies.sorted())")
    }
    return all
  }
}

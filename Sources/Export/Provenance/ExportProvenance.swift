import Coverage
import OrderedJSON
import Store

/// What an export rests on, so that its figures can be traced to the drive logs: program, store, filters, settings, drives (docs/export.md,
/// "Provenance"). One value; each format writes ``json`` in its own place.
public struct ExportProvenance: Hashable, Sendable {
  /// What the export has, such as `fences`.
  private let content: String
  private let exported: WallTime
  private let store: StoreIdentity?
  private let filters: JSON
  /// The settings at the export that decide fences.
  let configuration: JSON
  /// The drives of its fences.
  let drives: [DriveProvenance]

  /// - Parameters:
  ///   - content: What the export has: `fences` or `speed tests`.
  ///   - exported: When it was made.
  ///   - store: The store that it was made from; `nil` when its identity is damaged.
  ///   - state: The states of its fences or tests, as `export --state` has them.
  ///   - sessions: The ids of the only sessions; empty for all.
  ///   - filter: The other filters.
  ///   - configuration: The settings at the export that decide fences.
  ///   - drives: The drives of its fences; none for speed tests, which no drive log has.
  public init(
    content: String, exported: WallTime, store: StoreIdentity?, state: String, sessions: Set<Int64>,
    filter: FenceFilter, configuration: JSON, drives: [DriveProvenance]
  ) {
    (self.content, self.exported, self.store, self.configuration) = (content, exported, store, configuration)
    self.drives = drives
    filters = .object([
      "state": .string(state),
      "sessions": sessions.isEmpty ? nil : .array(sessions.sorted().map(JSON.integer)),
      "from": (filter.from?.iso8601).map(JSON.string),
      "to": (filter.to?.iso8601).map(JSON.string),
      "bbox": filter.box.map { .array($0.edges.map(JSON.number)) },
      "technologies": filter.technologies.isEmpty ? nil : .array(filter.technologies.map { .string($0.text) }),
      "links": filter.links.isEmpty ? nil : .array(filter.links.sorted().map(JSON.string)),
    ])
  }

  /// The identity of the store; `nil` when it is damaged.
  var storeID: String? { store?.uuid }

  /// The value as JSON (docs/export.md).
  public var json: JSON { .object(members) }

  private var members: [JSON.Member] {
    JSON.members([
      "program": .string(program),
      "content": .string(content),
      "exported_at": .string(exported.iso8601),
      "store_id": store.map { .string($0.uuid) },
      "last_fence": store.map { .integer($0.lastFence) },
      "filters": filters,
      "configuration_at_export": configuration,
      "drives": drives.isEmpty ? nil : .array(drives.map(\.json)),
    ])
  }

  private var program: String { "\(Program.name) \(Program.version)" }

  /// The same with the exported file, for a file of its own beside it.
  public func json(beside file: String?, _ digest: FileDigest) -> JSON {
    let file = JSON.object([
      "name": file.map(JSON.string), "bytes": .integer(digest.bytes), "sha256": .string(digest.sha256),
    ])
    return .object([JSON.Member("file", file)] + members)
  }

  /// In a sentence, for people.
  var line: String {
    let logs = drives.count { $0.digest != nil }
    let ofDrives =
      drives.isEmpty
      ? "" : ": \(counted(drives.drives.count, "drive")), \(counted(logs, "drive log")) with SHA-256"
    return "\(program), \(content) exported \(exported.iso8601)"
      + (store.map { " from the store \($0.uuid)" } ?? "") + ofDrives
  }

  /// A line for each drive with its log, for people.
  var driveLines: [String] { drives.map(\.line) }
}

/// Makes the provenance of an export when its fences are known. A format that writes it before them calls it first: then the fences are read
/// for it.
public typealias ProvenanceSource = () throws -> ExportProvenance

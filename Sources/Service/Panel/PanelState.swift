import Coverage
import Driving
import Foundation

/// The panel's content at one moment, without history.
public struct PanelState: Hashable, Sendable {
  /// What is done, e.g. `recording: moving`; `nil` where that is plain.
  public var activity: String?
  /// Time since the start of the drive, e.g. `00:12:31`; `nil` when there is no drive.
  public var elapsed: String?
  /// The position in words.
  public var position: String?
  /// The links of the running drive.
  var links: [PanelLink] = []
  /// The data that waits, and why nothing is sent; a line each.
  public var queue: [String] = []
  /// Trouble of the whole host, in words.
  public var warnings: [String] = []

  /// Nothing is known.
  public init() {}
}

extension PanelState {
  /// The state of a drive in this process.
  public init(_ links: [DriveStatus]) {
    guard let first = links.first else { return }
    elapsed = DriveStatus.clock(first.elapsed)
    position = first.position
    self.links = links.map(PanelLink.init)
    queue = first.target.map { ["this drive is \($0.note)"] } ?? []
    if let trouble = links.compactMap(\.diskTrouble).first {
      let unsaved = links.reduce(0) { $0.saturatingAdding($1.unsavedFences) }
      warnings.append("disk: \(trouble); \(counted(unsaved, "fence")) in memory only")
    }
  }
}

extension PanelLink {
  init(_ status: DriveStatus) {
    (name, fences, warnings) = (status.link, status.fences, status.warnings)
    technology = status.technology?.name
    radio = status.radio?.modem.flatMap(Self.words)
    (second.pings, second.answered) = (status.lastSecond.pings, status.lastSecond.answered)
    second.milliseconds = status.lastSecond.meanMilliseconds
    fence = status.openFence.map(Self.words)
  }

  private static func words(_ modem: ModemReading) -> String? {
    words(signal: { modem.signal[$0] }, operatorName: modem.operatorName)
  }

  /// The level that operators name, of the newest technology first.
  static func words(signal: (SignalQuantity) -> Double?, operatorName: String?) -> String? {
    let level = [SignalQuantity.nrRSRP, .rsrp, .rscp, .rssi].compactMap { quantity in
      signal(quantity).map { "\(quantity.rawValue) \(DecimalText.of($0, places: 0)) dBm" }
    }.first
    let parts = [level, operatorName].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }

  private static func words(_ fence: Fence) -> String {
    func milliseconds(_ nanoseconds: Int64?) -> Double? { nanoseconds.map { Double($0) / 1e6 } }
    return words(
      radius: fence.radius, pings: fence.pings, answered: fence.pingsAnswered,
      median: milliseconds(fence.figures.roundTrip?.median),
      percentile95: milliseconds(fence.percentile95))
  }

  /// The present fence in words; delays in milliseconds.
  static func words(radius: Double?, pings: Int, answered: Int, median: Double?, percentile95: Double?) -> String {
    let parts = [
      radius.map { "\(DecimalText.of($0, places: 0)) m" }, counted(pings, "ping"),
      "\(max(0, pings.saturatingSubtracting(answered))) lost",
      median.map { "median \(DecimalText.of($0, places: 1)) ms" },
      percentile95.map { "95 % \(DecimalText.of($0, places: 1)) ms" },
    ]
    return "this fence: " + parts.compactMap { $0 }.joined(separator: ", ")
  }
}

extension PanelState {
  /// The state of a service, from its answer to `status --json` (docs/service.md).
  /// - Throws: `DecodingError` when it is not such an answer.
  public init(service json: String) throws {
    let answer = try JSONDecoder().decode(Answer.self, from: Data(json.utf8))
    activity = "\(answer.state): \(answer.reason)"
    elapsed = answer.drives.first?.elapsed_s.map { DriveStatus.clock(.seconds($0)) }
    position = answer.drives.first?.position
    links = answer.drives.map(PanelLink.init)
    queue = answer.queue ?? []
    if let line = answer.disk?.status.line { warnings.append(line) }
    if answer.clock_set == false { warnings.append("no trusted clock: fences are stored and not sent") }
  }

  /// The members that the panel needs. Most are optional, because the service can be of another version than this program.
  fileprivate struct Answer: Decodable {
    struct Disk: Decodable {
      let trouble: String?
      let free_bytes: Int64?
      let unsaved_fences: Int?

      var status: ServiceStatus.Disk {
        ServiceStatus.Disk(freeBytes: free_bytes, unsavedFences: unsaved_fences ?? 0, trouble: trouble)
      }
    }

    struct Drive: Decodable {
      struct Second: Decodable {
        let pings, pings_ok: Int?
        let avg_ping_ms: Double?
      }

      struct Radio: Decodable {
        let operator_name: String?
        let signal: [String: Double]?
      }

      struct OpenFence: Decodable {
        let radius_m: Double?
        let pings, pings_ok: Int?
        let p50_ping_ms, p95_ping_ms: Double?
      }

      let link, technology, position: String?
      let elapsed_s: Int64?
      let fences: Int?
      let radio: Radio?
      let last_second: Second?
      let open_fence: OpenFence?
      let warnings: [String]?
    }

    let state, reason: String
    let clock_set: Bool?
    let disk: Disk?
    let drives: [Drive]
    let queue: [String]?
  }
}

extension PanelLink {
  fileprivate init(_ drive: PanelState.Answer.Drive) {
    (name, technology, fences) = (drive.link, drive.technology, drive.fences ?? 0)
    warnings = drive.warnings ?? []
    (second.pings, second.answered) = (drive.last_second?.pings ?? 0, drive.last_second?.pings_ok ?? 0)
    second.milliseconds = drive.last_second?.avg_ping_ms
    radio = Self.words(signal: { drive.radio?.signal?[$0.rawValue] }, operatorName: drive.radio?.operator_name)
    fence = drive.open_fence.map { open in
      Self.words(
        radius: open.radius_m, pings: open.pings ?? 0, answered: open.pings_ok ?? 0, median: open.p50_ping_ms,
        percentile95: open.p95_ping_ms)
    }
  }
}

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
  var links: [PanelLink] = []
  /// The data that waits, and why nothing is sent; a line each.
  public var queue: [String] = []
  /// Trouble of the whole host, in words.
  public var warnings: [String] = []

  public init() {}
}

extension PanelState {
  /// The state of a drive in this process.
  public init(_ links: [DriveStatus]) {
    guard let first = links.first else { return }
    var status = ServiceStatus(started: .current)
    status.links = links
    status.disk.trouble = links.compactMap(\.diskTrouble).first
    status.disk.unsavedFences = links.reduce(0) { $0.saturatingAdding($1.unsavedFences) }
    self = (try? PanelState(service: status.json.text)) ?? PanelState()
    activity = nil
    queue = first.target.map { ["this drive is \($0.note)"] } ?? []
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
    if answer.clock_set == false { warnings.append("the clock is not set: nothing is sent") }
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
    // The level that operators name, of the newest technology first.
    let level = [SignalQuantity.nrRSRP, .rsrp, .rscp, .rssi].compactMap { quantity in
      drive.radio?.signal?[quantity.rawValue].map { "\(quantity.rawValue) \(DecimalText.of($0, places: 0)) dBm" }
    }.first
    let parts = [level, drive.radio?.operator_name].compactMap { $0 }
    radio = parts.isEmpty ? nil : parts.joined(separator: " ")
    fence = drive.open_fence.map(Self.words)
  }

  /// The present fence in words.
  private static func words(_ open: PanelState.Answer.Drive.OpenFence) -> String {
    let pings = open.pings ?? 0
    let parts = [
      open.radius_m.map { "\(DecimalText.of($0, places: 0)) m" }, counted(pings, "ping"),
      "\(max(0, pings.saturatingSubtracting(open.pings_ok ?? 0))) lost",
      open.p50_ping_ms.map { "median \(DecimalText.of($0, places: 1)) ms" },
      open.p95_ping_ms.map { "95 % \(DecimalText.of($0, places: 1)) ms" },
    ]
    return "this fence: " + parts.compactMap { $0 }.joined(separator: ", ")
  }
}

import Coverage
import Driving
import Foundation

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

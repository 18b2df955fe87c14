import Coverage
import Export
import Store

@testable import Submission

/// How fences leave the program: as exports, and as a submission.
enum Sent {
  static let device = Device(
    model: "probe", device: "host", osVersion: "Linux", language: "en", timezone: "UTC", softwareVersion: "1.0",
    softwareVersionCode: 1, softwareRevision: "0")

  static func text(_ fence: Fence, of engine: Engine, started: WallTime = WallTime(microseconds: 1_795_168_800_000_000))
    -> String
  {
    let session = engine.sessions[fence.session]
    let result = CoverageResult(
      clientUUID: "C", testUUID: session.testUUID ?? "T", driveStarted: started, anchor: session.anchor ?? .start,
      fences: [fence])
    let stored = FenceRecord(
      StoredFence(
        id: 1, session: StoredSession(id: 1, drive: 1, driveStarted: started, session: session), fence: fence))
    let replayed = FenceRecord(replayed: fence, session: session)
    for record in [stored, replayed] { try? ExportFormat.jsonl.export([record]) { _ = $0.count } }
    return result.json(device).text
  }
}

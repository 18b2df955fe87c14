import Coverage
import OrderedJSON
import Settings
import Store

/// `sessions`: lists the stored sessions with state and counts.
struct SessionListing: Sendable {
  private let sessions: [StoredSession]
  private let isWriterAlive: Bool

  /// Reads the sessions, also while another process writes to the store.
  /// - Parameter configuration: Names the state directory.
  /// - Throws: `StoreError`
  init(configuration: ProbeConfiguration) throws {
    let reader = try StoreReader(directory: StateDirectory(path: configuration.stateDirectory))
    isWriterAlive = reader.isWriterAlive
    sessions = try reader.sessions()
  }

  /// A JSON array, oldest session first; times are ISO 8601 in UTC.
  var json: String {
    guard !sessions.isEmpty else { return "[]" }
    return "[\n" + sessions.map { json($0).text }.joined(separator: ",\n") + "\n]"
  }

  private func json(_ stored: StoredSession) -> JSON {
    func time(_ time: DriveTime?) -> JSON? {
      stored.isDamaged ? nil : time.map { .string((stored.driveStarted + $0).iso8601) }
    }
    return .object([
      "id": .integer(stored.id),
      "test_uuid": stored.session.testUUID.map(JSON.string),
      "loop_uuid": stored.loopUUID.map(JSON.string),
      "link": stored.link.map(JSON.string),
      "started_at": time(stored.session.started),
      "anchor_at": time(stored.session.anchor),
      "finalized_at": time(stored.session.finalized),
      "state": .string(stored.state(isWriterAlive: isWriterAlive).rawValue),
      "fences": .integer(Int64(stored.fences)),
      "submittable_fences": .integer(Int64(stored.submittableFences)),
      "submitted_fences": .integer(Int64(stored.submittedFences)),
      "quarantined_fences": .integer(Int64(stored.quarantinedFences)),
      "damaged_fences": .integer(Int64(stored.damagedFences)),
      "quarantine_reason": stored.quarantineReason.map(JSON.string),
      "submitted_at": stored.submitted.map { .string($0.iso8601) },
    ])
  }

  /// A table for an operator.
  var table: String {
    guard !sessions.isEmpty else { return "no sessions stored" }
    let rows = sessions.map { stored in
      let state = stored.state(isWriterAlive: isWriterAlive)
      let refused = stored.quarantineReason.map { " (\(counted(stored.quarantinedFences, "fence")): \($0))" } ?? ""
      let note =
        state == .pending && stored.submittableFences == 0 ? "pending (nothing to send)" : state.rawValue + refused
      let itself = stored.isDamaged ? " (damaged: the next submit repairs it)" : ""
      let damaged = itself + (stored.damagedFences > 0 ? " (\(counted(stored.damagedFences, "fence")) damaged)" : "")
      return [
        "\(stored.id)", stored.isDamaged ? "-" : (stored.driveStarted + stored.session.started).iso8601,
        "\(stored.fences)", note + damaged,
        stored.session.testUUID.map { ForeignText.clean($0, limit: 40) } ?? "-",
      ]
    }
    return AlignedTable.text([["id", "started", "fences", "state", "test"]] + rows)
  }
}

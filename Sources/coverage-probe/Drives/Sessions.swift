import ArgumentParser
import Coverage
import OrderedJSON
import Service
import Settings
import Store

struct Sessions: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the stored sessions and speed tests with state and counts.", subcommands: [Forget.self])

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(name: .long, help: "As a JSON array, oldest first.")
  var json = false

  @Flag(name: .long, help: "List the speed tests instead.")
  var speedTests = false

  func run() async throws {
    try await Terminal.run {
      let configuration = try configuration.load()
      let tests = try SpeedTestListing(configuration: configuration)
      guard !speedTests else {
        Terminal.result(json ? tests.json : tests.table ?? "no speed tests stored")
        return .done
      }
      let listing = try SessionListing(configuration: configuration)
      Terminal.result(json ? listing.json : listing.table)
      if !json, let table = tests.table { Terminal.result("\n" + table) }
      return .done
    }
  }
}

struct Forget: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Deletes a session with its fences permanently, or a speed test; sent or not.",
    discussion: """
      The last session of a drive takes the drive log with it. The server keeps fences and results that were sent.
      """)

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(help: "Delete a speed test: ID is its id, as `sessions --speed-tests` lists it.")
  var speedTest = false

  @Argument(help: "The id of the session, as `sessions` lists it.")
  var id: Int64

  func run() async throws {
    try await Terminal.run {
      try await Forgetting.run(
        speedTest ? .speedTest(id) : .session(id), try configuration.load(), logger: Terminal.logger(),
        print: Terminal.result)
    }
  }
}

/// `sessions`: lists the stored sessions with state and counts.
struct SessionListing: Sendable {
  /// Oldest first.
  let sessions: [StoredSession]
  let isWriterAlive: Bool
}

extension SessionListing {
  /// Reads the sessions, also while another process writes to the store.
  /// - Throws: `StoreError`
  init(configuration: ProbeConfiguration) throws {
    let reader = try StoreReader(directory: StateDirectory(path: configuration.stateDirectory))
    isWriterAlive = reader.isWriterAlive
    sessions = try reader.sessions()
  }

  /// A JSON array, oldest session first; times are ISO 8601 in UTC.
  var json: String {
    guard !sessions.isEmpty else { return "[]" }
    return "[\n" + sessions.map { Self.json($0, isWriterAlive: isWriterAlive).text }.joined(separator: ",\n") + "\n]"
  }

  static func json(_ stored: StoredSession, isWriterAlive: Bool) -> JSON {
    func time(_ time: DriveTime?) -> JSON? {
      stored.isDamaged ? nil : time.map { .string((stored.driveStarted + $0).iso8601) }
    }
    return .object([
      "id": .integer(stored.id),
      "test_uuid": stored.session.testUUID.map(JSON.string),
      "loop_uuid": stored.loopUUID.map(JSON.string),
      "link": stored.link.map(JSON.string),
      "target": stored.target.map(JSON.string),
      "started_at": time(stored.session.started),
      "anchor_at": time(stored.session.anchor),
      "finalized_at": time(stored.session.finalized),
      "state": .string(stored.state(isWriterAlive: isWriterAlive).rawValue),
      "fences": .integer(Int64(stored.fences)),
      "submittable_fences": .integer(Int64(stored.submittableFences)),
      "kept_fences": .integer(Int64(stored.keptFences)),
      "submitted_fences": .integer(Int64(stored.submittedFences)),
      "quarantined_fences": .integer(Int64(stored.quarantinedFences)),
      "damaged_fences": .integer(Int64(stored.damagedFences)),
      "quarantine_reason": stored.quarantineReason.map(JSON.string),
      "submitted_at": stored.submitted.map { .string($0.iso8601) },
      "equipment": stored.session.equipment?.json,
    ])
  }

  /// A table for an operator, of at most 100 columns: long links and tests are cut, notes are lines of their own. JSON has everything.
  var table: String {
    guard !sessions.isEmpty else { return "no sessions stored" }
    let hasLinks = sessions.contains { $0.link != nil }
    let head = ["id", "started"] + (hasLinks ? ["link"] : []) + ["fences", "state", "test"]
    let rows = sessions.map { stored in
      let started = stored.isDamaged ? "-" : (stored.driveStarted + stored.session.started).iso8601.prefix(19) + "Z"
      let link = hasLinks ? [stored.link.map { ForeignText.clean($0) } ?? "-"] : []
      return ["\(stored.id)", String(started)] + link + [
        "\(stored.fences)", stored.state(isWriterAlive: isWriterAlive).rawValue,
        stored.session.testUUID.map { ForeignText.clean($0, limit: 40) } ?? "-",
      ]
    }
    return AlignedTable.text(
      [head] + rows, notes: sessions.map(note), cutting: hasLinks ? [2, head.count - 1] : [head.count - 1])
  }

  /// What is special about a session; `nil`: nothing.
  private func note(_ stored: StoredSession) -> String? {
    let hasNothing = stored.state(isWriterAlive: isWriterAlive) == .pending && stored.submittableFences == 0
    let notes = [
      stored.isDamaged ? "damaged: the next submit repairs it" : nil,
      stored.damagedFences > 0 ? "\(counted(stored.damagedFences, "fence")) damaged" : nil,
      hasNothing ? "nothing to send" : nil,
      stored.target.map { "not submitted: \(ForeignText.clean($0))" },
      stored.quarantineReason.map {
        "\(counted(stored.quarantinedFences, "fence")) quarantined: \(ForeignText.clean($0))"
      },
    ].compactMap { $0 }
    return notes.isEmpty ? nil : notes.joined(separator: "; ")
  }
}

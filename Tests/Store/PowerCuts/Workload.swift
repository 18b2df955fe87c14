import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// A short random life of a device: drives, submissions, deletions, repairs. One transaction a step.
struct Workload {
  enum Synchronous: String { case full = "FULL", normal = "NORMAL", off = "OFF" }

  private let store: DriveStore
  private let synchronous: Synchronous
  private var random: SeededGenerator
  /// SQLite's own limit is 1,000 pages. Short lives need a lower one to have checkpoints.
  private let checkpointPages: Int

  private var recorder: DriveRecorder?
  private var sessions: [Session] = []
  private var fences: [Fence] = []
  private var drives = 0
  private var names = 0

  /// - Parameter synchronous: SQLite's setting, which replaces the store's own once the store is open.
  static func record(
    in folder: borrowing TracedFolder, seed: UInt64, steps: Int, synchronous: Synchronous = .full
  ) async throws -> Recording {
    var recording = Recording()
    let store = try folder.open()
    try recording.acknowledge(store, folder.trace)
    var workload = try Workload(store, seed: seed, synchronous: synchronous)
    for _ in 0..<steps {
      try await workload.step()
      try recording.acknowledge(store, folder.trace)
    }
    recording.end(folder.trace)
    return recording
  }

  private init(_ store: DriveStore, seed: UInt64, synchronous: Synchronous) throws {
    self.store = store
    self.synchronous = synchronous
    random = SeededGenerator(seed: seed)
    checkpointPages = [10, 50, 1000].randomElement(using: &random) ?? 1000
    try configure()
  }

  private func configure() throws {
    try store.database.inDatabase { db in
      try db.execute(sql: "PRAGMA wal_autocheckpoint = \(checkpointPages)")
      if synchronous != .full { try db.execute(sql: "PRAGMA synchronous = \(synchronous.rawValue)") }
    }
  }

  private mutating func step() async throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<9: try drive()
    case 9..<16: try await submit()
    case 16: try await remember()
    case 17, 18: try await keepHouse()
    default:
      try store.repair()
      try configure()
    }
  }

  // MARK: Driving

  private var now: WallTime { .sampleStart.later(by: .seconds(3600 * drives)) }
  private var moment: Double { Double(fences.count + 1) * 5 }

  private mutating func drive() throws {
    guard recorder != nil else {
      drives += 1
      (sessions, fences) = ([], [])
      recorder = try DriveRecorder(store, started: now, boot: ("B", .seconds(3600 * drives)), log: nil)
      return
    }
    switch Int.random(in: 0..<12, using: &random) {
    case 0:
      try recorder?.end(at: .seconds(moment), reason: .user)
      recorder = nil
    case 1:
      let set = now.later(by: .milliseconds(Int.random(in: 1...999, using: &random)))
      recorder?.started = set
      try save(newSession: false, fences: 1)
    case 2: try save(newSession: true, fences: 0)
    case 3: try save(newSession: false, fences: Int.random(in: 10...60, using: &random))
    default: try save(newSession: sessions.isEmpty, fences: Int.random(in: 1...3, using: &random))
    }
  }

  /// Ends the open fence, writes new ones, the last of which may be open, and checks that all read back unchanged.
  private mutating func save(newSession: Bool, fences count: Int) throws {
    guard var recorder else { return }
    if newSession || sessions.isEmpty {
      names += 1
      let isAnchored = Bool.random(using: &random)
      if let last = sessions.popLast() {
        sessions.append(
          Session(
            number: last.number, testUUID: last.testUUID, started: last.started, anchor: last.anchor,
            finalized: .seconds(moment)))
      }
      sessions.append(
        Session(
          number: sessions.count, testUUID: isAnchored ? "S\(names)" : nil, started: .seconds(moment),
          anchor: isAnchored ? .seconds(moment + 1) : nil))
    }
    var changed: [Fence] = []
    if let last = fences.last, last.exited == nil {
      fences[fences.count - 1] = fence(last.number, session: last.session, isOpen: false)
      changed.append(fences[fences.count - 1])
    }
    for number in 0..<count {
      let isOpen = number == count - 1 && Bool.random(using: &random)
      fences.append(fence(fences.count, session: sessions.count - 1, isOpen: isOpen))
      changed.append(fences[fences.count - 1])
    }
    try recorder.save(sessions: Array(sessions.suffix(2)), fences: changed, seen: .seconds(moment))
    self.recorder = recorder
    let reader = StoreReader(store)
    let stored = try reader.sessions().filter { $0.drive == recorder.drive }.flatMap { try reader.fences(of: $0) }
    #expect(stored.map(\.fence) == fences)
  }

  private mutating func fence(_ number: Int, session: Int, isOpen: Bool) -> Fence {
    .sample(
      number: number, session: session, entered: Double(number) * 5, lasted: isOpen ? nil : 4,
      latitude: 48 + Double(number) / 1000, rttSumNanoseconds: .random(in: 0...2_000_000_000, using: &random),
      isSubmittable: number % 7 != 3)
  }

  // MARK: Submitting

  private mutating func submit() async throws {
    let sessions = try StoreReader(store).sessions().map(\.id)
    let batches = try await store.outbox.batches(of: sessions, in: [.waiting, .sending, .quarantined])
    guard let batch = batches.randomElement(using: &random), Int.random(in: 0..<4, using: &random) > 0 else {
      return try await store.outbox.makeBatches(of: sessions, limit: .random(in: 1...50, using: &random), at: now)
    }
    switch batch.state {
    case .waiting where batch.test == nil:
      names += 1
      try await store.outbox.anchor(
        batch: batch.id, test: .init(uuid: "B\(names)", anchor: now), loopUUID: "L\(names)", client: "C")
    case .waiting:
      try await store.outbox.beginSending(batch: batch.id, fences: batch.fences, client: "C", at: now)
    case .sending: try await answer(batch)
    default: try await store.outbox.reopen(batches: [batch], at: now)
    }
  }

  private mutating func answer(_ batch: Batch) async throws {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: try await store.outbox.release(batch: batch.id)
    case 1: try await store.outbox.noteTrouble(batch: batch.id, isAnswer: true)
    case 2: try await store.outbox.quarantine(batch: batch, reason: "no", at: now)
    case 3: _ = try await store.outbox.split(batch: batch)
    default: try await store.outbox.markSubmitted(batch: batch.id, at: now)
    }
  }

  private mutating func remember() async throws {
    names += 1
    switch Int.random(in: 0..<3, using: &random) {
    case 0: try await store.servers.setClientUUID("C\(names)", at: "https://one")
    case 1: try await store.servers.setHistoryCursor(Int64(names), at: "https://one")
    default: try await store.servers.setGateMemory("{\"n\":\(names)}", at: "https://one")
    }
  }

  // MARK: Deletions and corrections

  private mutating func keepHouse() async throws {
    switch Int.random(in: 0..<5, using: &random) {
    case 0:
      let others = try StoreReader(store).sessions().map { ($0.id, $0.drive) }.filter { $0.1 != recorder?.drive }
      if let session = others.randomElement(using: &random) {
        _ = try await store.forget(session: session.0) { _, _ in }
      }
    case 1:
      let age = Duration.seconds(3600 * Int.random(in: 1...6, using: &random))
      _ = try await store.cleanup.run(Retention(maxAge: age, keep: age), now: now, except: recorder?.drive)
    case 2: try await store.drives.endInterrupted(except: recorder?.drive)
    case 3: _ = try await store.clockSettlement.settle(bootID: "B", sinceBoot: .seconds(3600 * drives + 2), now: now)
    default: try await store.database.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    }
  }
}

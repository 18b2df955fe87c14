import Coverage
import Foundation
import GRDB
import Logging
import TestSupport

@testable import Store

/// A state directory with four drives: sent, sent without a test of its own, waiting, and killed.
/// Half of it is in the write-ahead log only.
final class Site: @unchecked Sendable {
  static let now = WallTime.sampleStart.later(by: .seconds(6 * 3600))
  private let folder: TemporaryFolder
  private let directory: StateDirectory
  let lines = LogLines(from: .info)
  /// All ended fences, as measured. No two have the same figures and place.
  private(set) var fences: [Fence] = []
  /// The fences that the server has.
  private(set) var sent: Set<Fence> = []

  init() throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.file("state"))
  }

  var logger: Logger { lines.logger }

  /// - Parameter isLarge: Whether to treat the store as too large to be read completely at a start.
  func open(isLarge: Bool = false) throws -> DriveStore {
    var file = StoreFile(directory: directory) { [lines] in lines.append("\($0)") }
    if isLarge { file.readAtStart = 0 }
    return try DriveStore(file, purpose: "a test")
  }

  /// - Returns: The files as a kill leaves them, by their paths in the directory.
  func fill() async throws -> [String: Data] {
    let store = try open()
    let roads = try (0..<4).map { number in
      try Road(
        fences: 30, started: .sampleStart.later(by: .seconds(3600 * number)),
        test: [1, 3].contains(number) ? nil : "T\(number)",
        isCut: number == 3, start: Double(number) / 10)
    }
    fences = roads.flatMap(\.ended)
    try await store.servers.setClientUUID("C", at: "https://one")
    for (number, road) in roads.enumerated() {
      let path = "\(directory.driveLogs)/\(number).jsonl"
      try road.log.write(to: URL(fileURLWithPath: path))
      var recorder = try DriveRecorder(store, started: road.header.started, log: path, server: "https://one")
      try recorder.save(sessions: Engine().sessions, fences: [], seen: .start)
      // One transaction each, as they end.
      for fence in road.ended {
        try recorder.save(sessions: road.engine.sessions, fences: [fence], seen: road.engine.now)
      }
      guard let stopped = road.engine.stopped else { continue }
      try recorder.end(at: stopped.at, reason: stopped.reason)
      if number == 0 { try await send(recorder.drive, test: nil, road, in: store) }
      if number == 0 { try await store.database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
      if number == 1 { try await send(recorder.drive, test: "X", road, in: store) }
      if number == 2 { try await beginSending(recorder.drive, in: store) }
    }
    var files: [String: Data] = [:]
    for name in ["coverage.sqlite", "coverage.sqlite-wal", "coverage.sqlite-shm", "lock"]
      + (0..<4).map({ "drives/\($0).jsonl" })
    {
      files[name] = try Data(contentsOf: URL(fileURLWithPath: directory.path + "/" + name))
    }
    return files
  }

  private func send(_ drive: Int64, test: String?, _ road: Road, in store: DriveStore) async throws {
    let session = try StoreReader(store).sessions().first { $0.drive == drive }?.id ?? 0
    // Without a test of its own a session is often longer than a batch.
    try await store.outbox.makeBatches(of: [session], limit: test == nil ? 400 : 12, at: Self.now)
    for batch in try await store.outbox.batches(of: [session], in: [.waiting]) {
      if let test {
        let own = Batch.Test(uuid: "\(test)\(batch.id)", anchor: Self.now)
        try await store.outbox.anchor(batch: batch.id, test: own, loopUUID: nil, client: "C")
      }
      try await store.outbox.beginSending(batch: batch.id, fences: batch.fences, client: "C", at: Self.now)
      try await store.outbox.markSubmitted(batch: batch.id, at: Self.now)
    }
    sent.formUnion(road.ended)
  }

  /// Leaves the session in three batches: one may have been sent, the others wait.
  private func beginSending(_ drive: Int64, in store: DriveStore) async throws {
    let session = try StoreReader(store).sessions().first { $0.drive == drive }?.id ?? 0
    try await store.outbox.makeBatches(of: [session], limit: 12, at: Self.now)
    guard let first = try await store.outbox.batches(of: [session], in: [.waiting]).first else { return }
    try await store.outbox.beginSending(batch: first.id, fences: first.fences, client: "C", at: Self.now)
  }

  /// The number of unsent fences that no pass finds.
  func stuck(in store: DriveStore) async throws -> Int {
    let reader = StoreReader(store)
    let sessions = try reader.unsentSessions().map(\.id)
    try await store.outbox.makeBatches(of: sessions, limit: 12, at: Self.now)
    let batches = try await store.outbox.batches(of: sessions, in: [.waiting, .sending, .quarantined])
    let found = try batches.reduce(0) { try $0 + reader.fences(of: $1).count }
    let waiting = try await store.database.read { db in
      try Int.fetchOne(
        db,
        sql: "SELECT count(*) FROM intact_fence WHERE submittable AND submitted_at IS NULL AND exited_at IS NOT NULL")
    }
    return (waiting ?? 0) - found
  }

  func write(_ files: [String: Data]) throws {
    if FileManager.default.fileExists(atPath: directory.path) {
      try FileManager.default.removeItem(atPath: directory.path)
    }
    try FileManager.default.createDirectory(atPath: directory.driveLogs, withIntermediateDirectories: true)
    for (name, data) in files { try data.write(to: URL(fileURLWithPath: directory.path + "/" + name)) }
  }

  func content(of store: DriveStore) async throws -> Content {
    let reader = StoreReader(store)
    let stored = try reader.sessions().flatMap { try reader.fences(of: $0) }
    // Fences that a pass would send without asking: in no batch, or in a waiting batch.
    let unasked = try await store.database.read { db in
      try Int64.fetchSet(
        db,
        sql: """
          SELECT fence.id FROM fence LEFT JOIN batch ON batch.id = batch_id
          WHERE fence.submitted_at IS NULL AND (batch_id IS NULL OR batch.state = 'waiting')
          """)
    }
    func plain(_ stored: StoredFence) -> Fence {
      let fence = stored.fence
      // The fence may be in another session now.
      return Fence(
        number: fence.number, session: 0, entered: fence.entered, exited: fence.exited, fix: fence.fix,
        centre: fence.centre,
        radius: fence.radius, technology: fence.technology, pings: fence.pings, pingsAnswered: fence.pingsAnswered,
        rttSumNanoseconds: fence.rttSumNanoseconds, figures: fence.figures, isSubmittable: fence.isSubmittable)
    }
    return Content(
      fences: stored.filter { $0.fence.exited != nil }.map(plain),
      sentAgain: stored.filter { unasked.contains($0.id) && $0.submitted == nil }.map(plain))
  }
}

/// Damaged files, and the name of the damage.
struct Damage {
  let name: String
  let files: [String: Data]
  /// Whether only one of the store and the logs is hit.
  let isSingle: Bool

  private enum Kind: String, CaseIterable { case bit, bits, noise, zeros, swap, truncation, removal }

  static func random(_ number: Int, _ files: [String: Data], _ random: inout SeededGenerator) -> Damage {
    let store = ["coverage.sqlite", "coverage.sqlite-wal", "coverage.sqlite-shm"]
    let logs = files.keys.filter { $0.hasPrefix("drives/") }.sorted()
    var damaged = files
    var hits: [String] = []
    let isSingle = number % 3 != 0
    var targets: [String]
    if isSingle {
      targets = number % 6 == 1 ? logs : store
      targets =
        Int.random(in: 0..<3, using: &random) == 0
        ? targets : [targets[Int.random(in: 0..<targets.count, using: &random)]]
    } else {
      targets = [store[Int.random(in: 0..<3, using: &random)], logs[Int.random(in: 0..<logs.count, using: &random)]]
    }
    for target in targets {
      let kind = Kind.allCases[Int.random(in: 0..<Kind.allCases.count, using: &random)]
      hits.append("\(target) \(kind.rawValue)")
      damaged[target] = damaged[target].flatMap { change($0, kind, &random) }
    }
    return Damage(name: "\(number): " + hits.joined(separator: ", "), files: damaged, isSingle: isSingle)
  }

  private static func change(_ data: Data, _ kind: Kind, _ random: inout SeededGenerator) -> Data? {
    var data = data
    func place(_ room: Int) -> Int { Int.random(in: 0..<max(1, data.count - room), using: &random) }
    func flip() { data[place(0)] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
    switch kind {
    case .bit: flip()
    case .bits: for _ in 0..<20 { flip() }
    case .noise:
      for index in place(512)..<data.count {
        if index % 512 == 511 { break } else { data[index] = .random(in: 0...255, using: &random) }
      }
    case .zeros:
      let start = place(4096) / 4096 * 4096
      data.replaceSubrange(start..<min(start + 4096, data.count), with: Data(count: min(4096, data.count - start)))
    case .swap:
      let (one, other) = (place(8192) / 4096 * 4096, place(8192) / 4096 * 4096)
      guard one != other, max(one, other) + 4096 <= data.count else { return data }
      let (first, second) = (Data(data[one..<one + 4096]), Data(data[other..<other + 4096]))
      data.replaceSubrange(one..<one + 4096, with: second)
      data.replaceSubrange(other..<other + 4096, with: first)
    case .truncation: data.removeLast(Int.random(in: 1...data.count, using: &random))
    case .removal: return nil
    }
    return data
  }
}

/// Counts the fences that survive.
struct Tally {
  private var single = (found: 0, all: 0, starts: 0)
  private var both = (found: 0, all: 0, starts: 0)

  mutating func count(_ damage: Damage, found: Int, of all: Int) {
    if found < all { Swift.print("state damage \(damage.name): \(found) of \(all) fences") }
    if damage.isSingle {
      single = (single.found + found, single.all + all, single.starts + 1)
    } else {
      both = (both.found + found, both.all + all, both.starts + 1)
    }
  }

  func share(ofSingle: Bool) -> Double {
    let counts = ofSingle ? single : both
    return Double(counts.found) / Double(max(1, counts.all))
  }

  func print() {
    Swift.print("state damage, one of store and logs: \(single.starts) starts, \(single.found) of \(single.all) fences")
    Swift.print("state damage, both: \(both.starts) starts, \(both.found) of \(both.all) fences")
  }
}

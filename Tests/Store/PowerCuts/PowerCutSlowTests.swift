import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// The store after a power failure: docs/power-loss.md.
struct PowerCutSlowTests {
  /// 10,000 with `POWER_CUTS=10000`.
  private static let cutsAskedFor = ProcessInfo.processInfo.environment["POWER_CUTS"].flatMap { Int($0) }
  private static let cuts = cutsAskedFor ?? 20

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func newFolder(_ files: [String: Data] = [:]) throws -> TracedFolder {
    try TracedFolder(folder.file(UUID().uuidString), files: files)
  }

  /// Copies the files that a cut left, for a later analysis, to the folder that `POWER_CUTS_KEEP` names.
  private func keep(_ cut: Recording.Cut, _ line: String) throws {
    print("power cut: \(line)")
    guard let kept = ProcessInfo.processInfo.environment["POWER_CUTS_KEEP"] else { return }
    let folder = "\(kept)/\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, bytes) in cut.files { try bytes.write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
    try line.write(toFile: "\(folder)/judgement", atomically: true, encoding: .utf8)
  }

  /// Opens the store that a cut left, as the program does.
  private func judge(
    _ cut: Recording.Cut, mayBeCutAgain: Bool = true, _ random: inout SeededGenerator, _ judgement: inout Judgement
  ) async throws {
    judgement.cuts += 1
    let left = try newFolder(cut.files)
    let store: DriveStore
    do { store = try left.open() } catch {
      print("power cut: no start: \(error)")
      judgement.corrupt += 1
      return
    }
    let found = try StoreContent(store)
    let before = judgement
    if try !left.reports.all.isEmpty || StoreReader(store).damagedRows() > 0 { judgement.corrupt += 1 }
    judgement.compare(found, acknowledged: cut.acknowledged, underWay: cut.underWay)
    if judgement.found != before.found {
      try keep(
        cut,
        "\(judgement); \(left.reports.all.map(\.description)); \(found.difference(cut.acknowledged, cut.underWay))")
    }
    guard mayBeCutAgain, Int.random(in: 0..<8, using: &random) == 0 else { return }
    // The power fails in the start after the power failure.
    var recovery = Recording(before: cut.files, content: found)
    try recovery.acknowledge(store, left.trace)
    try await store.drives.endInterrupted()
    try recovery.acknowledge(store, left.trace)
    recovery.end(left.trace)
    try await recovery.cuts(1, &random) { cut, random in
      try await judge(cut, mayBeCutAgain: false, &random, &judgement)
    }
  }

  private func judge(
    cuts: Int, _ synchronous: Workload.Synchronous, until isEnough: (Judgement) -> Bool = { _ in false }
  ) async throws -> Judgement {
    var judgement = Judgement()
    var random = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    while judgement.cuts < cuts, !isEnough(judgement) {
      let life = try newFolder()
      let recording = try await Workload.record(in: life, seed: random.next(), steps: 40, synchronous: synchronous)
      for _ in 0..<20 where judgement.cuts < cuts && !isEnough(judgement) {
        try await recording.cuts(5, &random) { cut, random in try await judge(cut, &random, &judgement) }
      }
    }
    print("power cuts, synchronous=\(synchronous.rawValue): \(judgement)")
    return judgement
  }

  @Test(
    "when the power fails, then the next start finds an intact store with all acknowledged rows, and no others")
  func full() async throws {
    let judgement = try await judge(cuts: Self.cuts, .full)
    #expect(judgement.isGood, "\(judgement)")
  }

  // The controls end as soon as they have found losses. With POWER_CUTS they make all of a tenth of that number.

  private static let controlCuts = cutsAskedFor.map { max(30, $0 / 10) } ?? 1000

  @Test("when SQLite syncs at checkpoints only, then the judge finds lost fences")
  func normal() async throws {
    let judgement = try await judge(cuts: Self.controlCuts, .normal) {
      Self.cutsAskedFor == nil && $0.lostFences > 0
    }
    // The start may report them or not: a gap in the write-ahead log is damage, a missing end is not.
    #expect(judgement.lostFences > 0)
  }

  @Test("when SQLite does not sync, then the judge finds lost fences and damaged files")
  func off() async throws {
    let judgement = try await judge(cuts: Self.controlCuts, .off) {
      Self.cutsAskedFor == nil && $0.lostFences > 0 && $0.corrupt > 0
    }
    #expect(judgement.lostFences > 0)
    #expect(judgement.corrupt > 0)
  }

  // MARK: A damaged store

  /// A store of 240 fences with a page of noise in it, and no other files.
  private func damagedStore(_ random: inout SeededGenerator) async throws -> Data {
    let folder = try newFolder()
    let store = try folder.open()
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: [Session(number: 0, testUUID: "T", started: .start, finalized: .seconds(3000))],
      fences: (0..<240).map { .sample(number: $0, entered: Double($0) * 5) }, seen: .seconds(3000))
    try await store.database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try store.database.close()
    var file = try Data(contentsOf: URL(fileURLWithPath: folder.directory.database))
    let page = file.count / 4096 / 2
    for index in page * 4096..<(page + 1) * 4096 { file[index] = .random(in: 0...255, using: &random) }
    return file
  }

  @Test("when the power fails during a salvage, then the next start salvages the store again, and the old file is kept")
  func salvage() async throws {
    var random = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    let damaged = try await damagedStore(&random)
    let before = ["coverage.sqlite": damaged]
    let folder = try newFolder(before)
    let store = try folder.open()
    let saved = try StoreContent(store)
    #expect(folder.reports.all.count == 1)
    #expect(saved.rows.count > 200)
    var recording = Recording(before: before, content: saved)
    recording.end(folder.trace)
    let cuts = max(4, Self.cuts / 10)
    try await recording.cuts(cuts, &random) { cut, _ in
      let left = try newFolder(cut.files)
      let store = try left.open()
      #expect(try StoreContent(store) == saved)
      let names = try FileManager.default.contentsOfDirectory(atPath: left.directory.path)
      let kept = names.filter { $0.contains("corrupt") }.map { left.directory.path + "/" + $0 }
      #expect(kept.contains { FileManager.default.contents(atPath: $0) == damaged }, "\(names)")
    }
    print("power cuts in a salvage: \(cuts), \(saved.rows.count) rows each")
  }
}

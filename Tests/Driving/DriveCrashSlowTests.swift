import Coverage
import Logging
import Store
import TestSupport
import Testing

@testable import Driving

/// A drive that is killed, with its real files.
///
///     effects     append · append · seal · write · append ...
///     killed at     0        1       2       3       4     each of them once
///     then        the next start recovers: no fence that ended is lost, no fence is stored twice
struct DriveCrashSlowTests {
  private let logger = Logger.quiet

  /// The state of a drive when it was killed.
  private struct Remains {
    let engine: Engine
    /// The last state of each fence that the store confirmed.
    let confirmed: [Int: Fence]
    let effects: Int
  }

  /// Fences of two seconds, with a change of the test, a step of the clock, Wi-Fi, and checkpoints among them.
  private func run(in directory: StateDirectory, killedAt: Int?) throws -> Remains {
    let store = try DriveStore(directory: directory, purpose: "a test")
    var rig = DriveRig()
    let options = DriveOptions(links: [])
    var disk = try DriveDisk(
      options, link: nil, path: .cellular, clock: rig.drive.clock, store: store, server: "https://one", logger: logger,
      onDiskFull: {})
    var confirmed: [Int: Fence] = [:]
    rig.killedAt = killedAt
    rig.otherDisk = { effect in
      let answer = disk.perform(effect)
      if case .written(let write)? = answer { for fence in write.fences { confirmed[fence.number] = fence } }
      return answer
    }
    try rig.startPinging()
    for second in 1...12 {
      rig.wait(1)
      rig.ping(.answered(rttNanoseconds: 30_000_000 + Int64(second)), ago: 0.5)
      rig.fix(Double(second) * 12)
      rig.tick(step: second < 5 ? .zero : .seconds(600))
      switch second {
      case 3: rig.ping(.refused(rttNanoseconds: 1))
      case 4:
        _ = try rig.grant("T2")
        try rig.resolve()
      case 7: rig.feed(.path(.wifi))
      case 9: rig.feed(.path(.cellular))
      default: break
      }
    }
    rig.feed(.stop)
    rig.feed(.ended)
    return Remains(engine: rig.drive.engine, confirmed: confirmed, effects: rig.diskEffects)
  }

  /// The fences that the next start finds.
  private func recovered(in directory: StateDirectory) async throws -> [Fence] {
    let store = try DriveStore(directory: directory, purpose: "a test")
    try await Recovery(store, maxAge: .seconds(7 * 86_400), logger: logger).run(
      at: .sampleStart.later(by: .seconds(3600)))
    return try await store.reading { reader in
      try reader.sessions().flatMap { try reader.fences(of: $0) }.map(\.fence)
    }
  }

  @Test("when a drive ends normally, then the store has its fences as they were measured")
  func inOrder() async throws {
    let folder = try TemporaryFolder()
    let directory = StateDirectory(path: folder.file("state"))
    let remains = try run(in: directory, killedAt: nil)
    let fences = try await recovered(in: directory)
    #expect(remains.engine.fences.count > 4 && remains.engine.sessions.count == 2)
    #expect(fences.sorted { $0.number < $1.number }.map(Figures.init) == remains.engine.fences.map(Figures.init))
  }

  @Test(
    "when a drive is killed between two effects, then only the tail of its open fence is lost, and no fence is doubled")
  func killed() async throws {
    let folder = try TemporaryFolder()
    let effects = try run(in: StateDirectory(path: folder.file("whole")), killedAt: nil).effects
    #expect(effects > 40)
    for kill in 0..<effects {
      let directory = StateDirectory(path: folder.file("\(kill)"))
      let remains = try run(in: directory, killedAt: kill)
      let fences = try await recovered(in: directory)
      let stored = Dictionary(grouping: fences, by: \.number)
      #expect(stored.values.allSatisfy { $0.count == 1 }, "killed at \(kill): a fence is stored twice")
      for (number, fence) in remains.confirmed {
        let found = stored[number]?.first
        if fence.exited == nil {
          #expect((found?.pings ?? 0) >= fence.pings, "killed at \(kill): fence \(number) is shorter than confirmed")
        } else {
          #expect(found.map(Figures.init) == Figures(fence), "killed at \(kill): fence \(number) is not as confirmed")
        }
      }
      for fence in fences {
        let measured = remains.engine.fences.first { $0.number == fence.number }
        #expect(fence.pings <= measured?.pings ?? 0, "killed at \(kill): fence \(fence.number) has too many pings")
      }
      // A step ends one fence at most: all before it are confirmed.
      let ended = remains.engine.fences.filter { $0.exited != nil }.dropLast()
      let isConfirmed = ended.allSatisfy { remains.confirmed[$0.number]?.exited != nil }
      #expect(isConfirmed, "killed at \(kill): a fence that ended waits for another one")
    }
  }

  /// The part of a fence that is compared.
  private struct Figures: Equatable {
    let number: Int
    let entered: DriveTime
    let exited: DriveTime?
    let pings: Int
    let answered: Int
    let rttSum: Int64
    let isSubmittable: Bool

    init(_ fence: Fence) {
      (number, entered, exited) = (fence.number, fence.entered, fence.exited)
      (pings, answered, rttSum) = (fence.pings, fence.pingsAnswered, fence.rttSumNanoseconds)
      isSubmittable = fence.isSubmittable
    }
  }
}

import Coverage
import GRDB
import TestSupport
import Testing

@testable import Store

/// The clocks of a boot, kept from one process to the next.
struct ClockMemoryTests {
  private let folder: TemporaryFolder
  private let store: DriveStore
  private let booted = WallTime.sampleStart

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
  }

  /// A host and a receiver that agree.
  private func clock() -> WallClock {
    var clock = WallClock()
    for second in 1...20 {
      let boot = Duration.seconds(second)
      clock.note(gnss: booted.adding(boot), receiver: "/dev/gps0", at: boot)
      clock.select(host: booted.adding(boot), at: boot)
    }
    return clock
  }

  @Test("when a process ends, then the next one of the same boot knows the clocks, and one of another boot does not")
  func kept() throws {
    let clock = clock()
    try store.clocks.persist(clock, ofBoot: "A")
    #expect(try store.clocks.wallClock(ofBoot: "A", at: .seconds(30)) == clock)
    #expect(try store.clocks.wallClock(ofBoot: "B", at: .seconds(30)) == nil)
    try store.clocks.persist(clock, ofBoot: "B")
    #expect(try store.clocks.wallClock(ofBoot: "A", at: .seconds(30)) == nil, "readings of another boot are not used")
  }

  @Test("when the kernel gives no boot id, then nothing is persisted")
  func unknownBoot() throws {
    try store.clocks.persist(clock(), ofBoot: "")
    #expect(try store.clocks.wallClock(ofBoot: "", at: .seconds(30)) == nil)
    #expect(try store.clocks.timesOfBoot("").isEmpty)
  }

  @Test("when the row is damaged, or has readings from the future, then it is ignored")
  func damaged() throws {
    try store.clocks.persist(clock(), ofBoot: "A")
    #expect(try store.clocks.wallClock(ofBoot: "A", at: .seconds(10)) == nil, "its readings are from the future")
    try store.database.write { db in
      try db.execute(sql: "DROP TRIGGER clock_updated")
      try db.execute(sql: "UPDATE clock SET memory = replace(memory, '1', '2')")
    }
    #expect(try store.clocks.wallClock(ofBoot: "A", at: .seconds(10_000)) == nil)
  }

  @Test("when the memory counts an impossible number of receiver jumps, then it is ignored")
  func impossibleJumps() throws {
    try store.clocks.persist(clock(), ofBoot: "A")
    let changed = try store.database.write { db in
      try db.execute(
        sql: """
          UPDATE clock SET memory = replace(memory, '"jumps":0', '"jumps":9223372036854775807')
            WHERE memory LIKE '%"jumps":0%'
          """)
      return db.changesCount
    }
    #expect(changed == 1)
    #expect(try store.clocks.wallClock(ofBoot: "A", at: .seconds(30)) == nil)
  }

  @Test("when drives of this boot were recorded, then the boot times that they imply are listed, the latest first")
  func times() throws {
    for (boot, lead) in [("A", 0.0), ("A", 3600), ("B", 7200)] {
      _ = try DriveRecorder(store, started: booted + .seconds(40 + lead), boot: (boot, .seconds(40)), log: nil)
    }
    #expect(try store.clocks.timesOfBoot("A") == [booted + .seconds(3600), booted])
  }

  @Test("when the clock is not sure, then no drive is redated, and the result lists the doubted drives")
  func unsure() async throws {
    let recorder = try DriveRecorder(store, started: booted + .seconds(40), boot: ("A", .seconds(40)), log: nil)
    try recorder.end(at: .seconds(30), reason: .user)
    let wrong = booted.adding(.seconds(36_100))
    let settled = try await store.clockSettlement.settle(
      bootID: "A", sinceBoot: .seconds(100), now: wrong, isSure: false)
    #expect(settled.doubted == [recorder.drive] && settled.corrected.isEmpty)
    #expect(try store.clocks.timesOfBoot("A") == [booted])
    #expect(
      try await store.clockSettlement.settle(bootID: "A", sinceBoot: .seconds(100), now: wrong).corrected == [
        recorder.drive
      ])
  }
}

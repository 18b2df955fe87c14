import Coverage
import TestSupport
import Testing

@testable import Driving

/// The writes of a drive to disk, and its handling of a disk that fails.
struct DriveJournalTests {
  private var rig = DriveRig()

  /// A drive that has been on a fence for three seconds.
  init() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.wait(3)
  }

  /// Leaves the open fence.
  private mutating func closeFence(_ number: Int = 0) {
    rig.fix(Double(number + 1) * 100)
    rig.wait(1)
  }

  @Test("when the disk is full, then the fence goes to the reserved space, and the log waits")
  mutating func full() {
    rig.disk.storeFailure = ModelDisk.full
    closeFence()
    #expect(rig.disk.fences[0]?.exited != nil)
    #expect(rig.disk.isLogHeld && !rig.disk.hasReserveFile)
    #expect(rig.disk.requestsForRoom == 1)
    #expect(rig.lines.last?.hasPrefix("warning: the disk is full; fences use the space reserved for them") == true)
    #expect(rig.drive.journal.trouble?.hasPrefix("the disk is full:") == true)
    #expect(rig.drive.journal.unsavedFenceCount == 0)
  }

  @Test("when the disk refuses the drives of several links, then the sum of both names them")
  mutating func links() {
    (rig.disk.storeFailure, rig.disk.hasReserveFile) = (ModelDisk.full, false)
    closeFence()
    var rest = UnsavedDrive()
    for link in ["A", "B"] { rest.add(UnsavedDrive(rig.drive.journal, link: link)) }
    #expect(rest.link == "A, B" && rest.fences == 2)
    rest.add(UnsavedDrive())
    #expect(rest.link == "A, B", "the third link's drive is on the disk")
    #expect(UnsavedDrive(rig.drive.journal, link: nil).link == nil)
  }

  @Test("when the disk has room again, then space is reserved again, and the log goes on")
  mutating func roomAgain() {
    rig.disk.storeFailure = ModelDisk.full
    closeFence()
    rig.wait(4)
    rig.tick()
    #expect(!rig.disk.isLogHeld && rig.disk.hasReserveFile)
    #expect(rig.lines.last == "notice: the disk has room again; the drive log goes on")
    #expect(rig.operatorEvents == [.diskTrouble, .diskTrouble], "its beginning and its end")
    #expect(rig.drive.journal.trouble == nil)
  }

  @Test("when no space is reserved, then fences wait in memory, with one line, and all are written when there is room")
  mutating func noReserveFile() {
    rig.disk.storeFailure = ModelDisk.full
    rig.disk.hasReserveFile = false
    for number in 0..<3 { closeFence(number) }
    #expect(rig.disk.fences.isEmpty)
    #expect(rig.drive.journal.unsavedFenceCount == 3)
    #expect(rig.disk.requestsForRoom == 3)
    let troubles = rig.lines.filter { $0.contains("cannot write to the store") }
    #expect(
      troubles == [
        "error: cannot write to the store: the disk is full; fences wait in memory until it can be written; "
          + "free some space"
      ])
    #expect(rig.drive.journal.trouble == "store: the disk is full")
    rig.disk.storeFailure = nil
    closeFence(3)
    #expect(rig.disk.fences.keys.sorted() == [0, 1, 2, 3])
    #expect(
      rig.lines.last == "notice: the store can be written again after 3 refused writes; nothing is missing in it")
    #expect(rig.operatorEvents == [.diskTrouble, .diskTrouble], "its beginning and its end")
    #expect(rig.drive.journal.trouble == nil)
  }

  @Test("when the reserved space does not help, then the fence waits in memory, and the log is held")
  mutating func uselessReserveFile() {
    rig.disk.storeFailure = ModelDisk.full
    rig.disk.reserveFileHelps = false
    closeFence()
    #expect(rig.disk.fences.isEmpty && rig.drive.journal.unsavedFenceCount == 1)
    #expect(rig.disk.isLogHeld)
  }

  @Test("when the store is damaged, then it is repaired, and the whole drive is written to it again")
  mutating func damage() {
    for number in 0..<3 { closeFence(number) }
    rig.disk.storeFailure = ModelDisk.damaged
    closeFence(3)
    #expect(rig.disk.fences.keys.sorted() == [0, 1, 2, 3, 4], "the open fence, too")
    #expect(rig.disk.sessions[0]?.testUUID == "T1")
    #expect(rig.lines.suffix(1) == ["error: the store is damaged: malformed"])
    #expect(rig.operatorEvents == [.storeDamage])
    #expect(rig.drive.journal.trouble == nil)
  }

  @Test("when the store is damaged after other trouble, then it is repaired all the same")
  mutating func damageAfterTrouble() {
    rig.disk.storeFailure = ModelDisk.failing
    closeFence(0)
    #expect(rig.drive.journal.trouble != nil)
    rig.disk.storeFailure = ModelDisk.damaged
    closeFence(1)
    #expect(rig.disk.fences.keys.sorted() == [0, 1, 2] && rig.drive.journal.trouble == nil)
  }

  @Test("when the repair fails, then the whole drive waits in memory, and no repair is tried before a write succeeds")
  mutating func failedRepair() {
    for number in 0..<2 { closeFence(number) }
    (rig.disk.storeFailure, rig.disk.repairs) = (ModelDisk.damaged, false)
    var repairs = 0
    for number in 2..<4 {
      var drive = rig
      drive.onEffect = { if case .disk(.repairStore) = $0 { repairs += 1 } }
      drive.fix(Double(number + 1) * 100)
      rig = drive
      rig.wait(1)
    }
    #expect(repairs == 1)
    #expect(rig.drive.journal.unsavedFenceCount == 4)
    #expect(rig.drive.journal.trouble == "store: malformed")
  }

  @Test("when the log cannot be written, then that is logged once, until a write succeeds")
  mutating func log() {
    rig.disk.logTrouble = "drive.jsonl: no space"
    for _ in 0..<5 { rig.ping(.lost(.unknown)) }
    let line = "error: drive.jsonl: no space; its lines wait in memory"
    #expect(rig.lines.filter { $0 == line }.count == 1)
    #expect(rig.drive.journal.trouble == "drive.jsonl: no space")
    rig.disk.logTrouble = nil
    rig.ping(.lost(.unknown))
    #expect(rig.drive.journal.trouble == nil)
    rig.disk.logTrouble = "drive.jsonl: no space"
    rig.ping(.lost(.unknown))
    #expect(rig.lines.filter { $0 == line }.count == 2)
  }

  @Test("when the log cannot be written and is held for fences, then its trouble is logged once all the same")
  mutating func heldLog() {
    rig.disk.logTrouble = "drive.jsonl: no space"
    rig.ping(.lost(.unknown))
    rig.disk.storeFailure = ModelDisk.full
    closeFence()
    rig.ping(.lost(.unknown))
    #expect(rig.disk.isLogHeld)
    #expect(!rig.lines.contains { $0.contains("the drive log can be written again") }, "it was not tried")
    #expect(rig.lines.count { $0 == "error: drive.jsonl: no space; its lines wait in memory" } == 1)
  }

  @Test("when fences still wait at the end, then the log leaves them the reserved space, and gets it after them")
  mutating func reserveFileAtTheEnd() {
    var closings: [Bool] = []
    func feed(_ event: (inout DriveRig) -> Void) {
      var drive = rig
      drive.onEffect = { if case .disk(.closeLog(let usesReserveFile)) = $0 { closings.append(usesReserveFile) } }
      event(&drive)
      rig = drive
    }
    rig.disk.storeFailure = ModelDisk.failing
    feed { $0.feed(.stop) }
    feed { $0.feed(.ended) }
    #expect(!closings.isEmpty && !closings.contains(true))
    rig.disk.storeFailure = nil
    feed { $0.feed(.ended) }
    #expect(closings.last == true && rig.drive.isSaved)
  }

  @Test("when the end of the log waits in memory, then the drive is not saved until the disk has it")
  mutating func waitingTail() {
    (rig.disk.logTrouble, rig.disk.linesWaiting) = ("drive.jsonl: no space", 28)
    rig.feed(.stop)
    rig.feed(.ended)
    #expect(rig.disk.fences[0]?.exited != nil && !rig.drive.isSaved)
    #expect(rig.drive.journal.waitingLines == 28 && rig.drive.journal.trouble == "drive.jsonl: no space")
    (rig.disk.logTrouble, rig.disk.linesWaiting) = (nil, 0)
    rig.feed(.ended)
    #expect(rig.drive.isSaved)
  }

  @Test("when the store refuses writes for another reason than before, then a line has the new one")
  mutating func otherReason() {
    rig.disk.storeFailure = ModelDisk.failing
    for number in 0..<2 { closeFence(number) }
    rig.disk.storeFailure = StoreFailure(kind: .other, text: "ro", reason: "its disk is read-only")
    for number in 2..<4 { closeFence(number) }
    let lines = rig.lines.filter { $0.contains("cannot write to the store") }
    #expect(lines.count == 2 && lines[1].contains("its disk is read-only"))
  }

  @Test("when the disk refuses fences, then they are submitted with the stored ones of their test")
  mutating func inMemory() {
    closeFence()
    rig.disk.storeFailure = ModelDisk.failing
    for number in 1..<3 { closeFence(number) }
    rig.feed(.stop)
    rig.feed(.ended)
    let stored = rig.disk.fences.keys.max() ?? -1
    let part = rig.drive.recorded.inMemory(as: 7, log: "a log")
    #expect(part.drive == 7 && part.unstored.min() == stored + 1)
    #expect(part.fences.first?.number == 0 && part.fences.allSatisfy { $0.exited != nil })
    #expect(part.sessions.map(\.testUUID) == ["T1"] && part.sessions.allSatisfy { $0.finalized != nil })
    #expect(part.stopReason == .user && part.ended == rig.drive.engine.stopped?.at && part.log == "a log")
  }

  @Test("when a session has more fences than a request holds, then those in memory get a test of their own")
  mutating func inMemoryBesideFullRequest() {
    for number in 0..<RecordedEngine.fencesPerSession { closeFence(number) }
    rig.disk.storeFailure = ModelDisk.failing
    closeFence(RecordedEngine.fencesPerSession)
    rig.feed(.stop)
    rig.feed(.ended)
    let part = rig.drive.recorded.inMemory(as: 7, log: "a log")
    #expect(Set(part.fences.map(\.number)) == part.unstored && (1...2).contains(part.unstored.count))
    #expect(part.sessions.count == 1 && part.sessions[0].testUUID == nil && part.sessions[0].anchor == nil)
  }

  @Test("when lines of the log are in memory only, then nothing may be written into it beside the drive")
  mutating func inMemoryWithLog() {
    rig.disk.storeFailure = ModelDisk.failing
    (rig.disk.logTrouble, rig.disk.linesWaiting) = ("drive.jsonl: no space", 3)
    rig.feed(.stop)
    rig.feed(.ended)
    #expect(rig.drive.recorded.inMemory(as: 7, log: "a log").log == nil)
  }

  @Test("when only the end of the drive is refused, then one line says so, and another one that it is stored")
  mutating func refusedEnd() {
    rig.disk.endFailure = ModelDisk.failing
    rig.feed(.stop)
    for _ in 0..<3 { rig.feed(.ended) }
    #expect(!rig.drive.isSaved && rig.drive.journal.trouble == "store: the disk fails")
    #expect(rig.lines.count { $0.contains("cannot write to the store") } == 1)
    #expect(!rig.lines.contains { $0.contains("can be written again") })
    rig.disk.endFailure = nil
    rig.feed(.ended)
    #expect(rig.drive.isSaved && rig.drive.journal.trouble == nil)
    #expect(
      rig.lines.last == "notice: the store can be written again after 3 refused writes; nothing is missing in it")
  }

  @Test("when the store does not know their test, then the stored fences are left to it")
  mutating func inMemoryWithoutTest() throws {
    rig = DriveRig()
    rig.fix(0)
    rig.wait(5)
    rig.tick()
    rig.disk.storeFailure = ModelDisk.failing
    try rig.startPinging()
    closeFence()
    closeFence(1)
    rig.feed(.stop)
    rig.feed(.ended)
    let stored = rig.disk.fences.keys.max() ?? -1
    #expect(rig.disk.sessions[0]?.testUUID == nil && stored >= 0)
    let part = rig.drive.recorded.inMemory(as: 7, log: "a log")
    #expect(Set(part.fences.map(\.number)) == part.unstored && part.unstored.min() == stored + 1)
  }

  @Test("when the log lacks lines, then a line at the end says so")
  mutating func dropped() {
    rig.disk.linesDropped = 12
    rig.feed(.stop)
    rig.feed(.ended)
    #expect(rig.lines.last?.hasPrefix("error: the drive log lacks 12 lines:") == true)
  }

  @Test("when the log lacks lines and the end is tried again and again, then that is logged once")
  mutating func droppedOnce() {
    rig.disk.linesDropped = 1
    rig.disk.storeFailure = ModelDisk.failing
    rig.feed(.stop)
    for _ in 0..<3 { rig.feed(.ended) }
    #expect(!rig.drive.isSaved)
    #expect(rig.lines.count { $0.contains("lacks 1 line:") } == 1)
    rig.disk.linesDropped = 2
    rig.feed(.ended)
    #expect(rig.lines.count { $0.contains("lacks 2 lines:") } == 1)
  }

  @Test("when the log is disabled, then the store still has the drive")
  mutating func noLog() throws {
    rig = DriveRig { $0.writesLog = false }
    try rig.startPinging()
    rig.fix(0)
    rig.wait(4)
    rig.tick()
    rig.feed(.stop)
    rig.feed(.ended)
    #expect(rig.disk.events.isEmpty && rig.disk.clockNotes.isEmpty && rig.disk.seals == 0 && rig.disk.syncs == 0)
    #expect(rig.disk.fences[0]?.exited != nil && rig.drive.isSaved)
  }

  @Test("when pings of an ended fence come late, then the store has them with the next write")
  mutating func revised() {
    rig.ping(.lost(.unknown), ago: 1)
    closeFence()
    let pings = rig.disk.fences[0]?.pings
    rig.ping(.answered(rttNanoseconds: 5), ago: 2)
    #expect(rig.disk.fences[0]?.pings == pings)
    rig.wait(4)
    rig.tick()
    #expect(rig.disk.fences[0]?.pings == (pings ?? 0) + 1)
  }
}

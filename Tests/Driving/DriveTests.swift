import Coverage
import Pinging
import TestSupport
import Testing

@testable import Driving
@testable import Networking
@testable import Positioning

/// A drive in time, its end and its status: an input, and its effects.
struct DriveTests {
  private var rig = DriveRig()

  // MARK: Time

  @Test("when the clock steps, then the log has the step, the stored start moves, and anchors still match the server's")
  mutating func clockStep() throws {
    try rig.startPinging()
    rig.wait(1)
    rig.tick(step: .seconds(60))
    #expect(rig.disk.events.last?.kind == .clockSet(by: .seconds(60)))
    #expect(rig.disk.started == .sampleStart.later(by: .seconds(60)))
    #expect(rig.disk.sessions[0]?.anchor == DriveTime.start + .seconds(-60))
    let notes = rig.disk.clockNotes.count
    rig.wait(1)
    rig.tick(step: .seconds(60))
    #expect(rig.disk.clockNotes.count == notes)
  }

  @Test("when 4 s have passed, then the open fence is stored and the log is synced")
  mutating func checkpoint() throws {
    try rig.startPinging()
    rig.fix(0)
    for second in 1...9 {
      rig.wait(1)
      rig.ping(.answered(rttNanoseconds: 1))
      rig.tick()
      #expect(rig.disk.syncs == second / 4)
      #expect(rig.disk.fences[0]?.pings == (second < 4 ? nil : second < 8 ? 4 : 8))
    }
  }

  @Test("when a fence ends, then its event is in the log before it is in the store")
  mutating func logFirst() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.wait(1)
    var order: [String] = []
    rig.onEffect = { effect in
      switch effect {
      case .disk(.append(let event, _)): if case .fix = event.kind { order.append("fix") }
      case .disk(.seal): order.append("seal")
      case .disk(.write(let write)): order.append("fences \(write.fences.map(\.number))")
      default: break
      }
    }
    rig.fix(100)
    #expect(order == ["fix", "seal", "fences [0]"])
    #expect(rig.disk.fences[0]?.exited == rig.now)
  }

  // MARK: End

  @Test("when the drive is stopped, then pings stop first, its last fence is stored, and then its end")
  mutating func stop() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.wait(3)
    rig.feed(.stop)
    #expect(rig.drive.isOver && rig.liveTargets.isEmpty)
    #expect(rig.disk.fences[0]?.exited == rig.now && rig.disk.end == nil)
    rig.feed(.ended)
    #expect(rig.disk.end?.reason == .user && rig.disk.end?.at == rig.now)
    #expect(rig.drive.isSaved)
    let effects = rig.effects.count
    rig.tick()
    rig.fix(500)
    rig.feed(.stop)
    #expect(rig.effects.count == effects, "nothing follows the end")
  }

  @Test("when the maximum duration is over, then the drive stops by itself, and the log has the reason")
  mutating func duration() throws {
    rig = DriveRig { $0.parameters.maximumDuration = .seconds(5) }
    try rig.startPinging()
    rig.fix(0)
    rig.wait(6)
    rig.tick()
    #expect(rig.drive.isOver)
    #expect(rig.disk.events.last?.kind == .stop(.duration))
    #expect(rig.drive.summary(drive: 1, capture: nil, at: rig.now).reason == .duration)
  }

  @Test(
    "when a drive ends, then the pings on their way get their verdicts first, so that losses count as answers do",
    arguments: [StopReason.user, .duration])
  mutating func lastVerdicts(reason: StopReason) throws {
    rig = DriveRig { $0.parameters.maximumDuration = .seconds(reason == .duration ? 5 : 3600) }
    rig.hasPingsOnTheirWay = true
    try rig.startPinging()
    rig.fix(0)
    rig.wait(4.9)
    rig.ping(.answered(rttNanoseconds: 20_000_000), ago: 0.5)
    rig.wait(0.1)
    let end = rig.now
    if reason == .user { rig.feed(.stop) } else { rig.tick() }
    #expect(!rig.drive.isOver && rig.liveTargets.isEmpty)
    rig.wait(0.5)
    rig.fix(100)
    rig.ping(.answered(rttNanoseconds: 20_000_000), ago: 0.1)
    rig.tick()
    rig.ping(.lost(.unknown), ago: 0.9)
    #expect(!rig.drive.isOver)
    rig.ping(.finished)
    #expect(rig.drive.engine.stopped?.reason == reason && rig.drive.engine.stopped?.at == end)
    let fences = rig.drive.engine.fences
    #expect(fences.map(\.pings) == [2] && fences.map(\.pingsAnswered) == [1] && fences.map(\.exited) == [end])
  }

  @Test(
    "when the last verdicts do not come, or it is stopped again, then the drive ends all the same",
    arguments: [(1, false, 2), (1, true, 1), (60, false, 4)])
  mutating func missingVerdicts(timeout: Int, isStoppedAgain: Bool, seconds: Int) throws {
    rig = DriveRig { $0.pingTimeout = .seconds(timeout) }
    rig.hasPingsOnTheirWay = true
    try rig.startPinging()
    rig.fix(0)
    rig.wait(2)
    let end = rig.now
    rig.feed(.stop)
    for _ in 0..<seconds {
      #expect(!rig.drive.isOver)
      rig.wait(1)
      rig.tick()
    }
    if isStoppedAgain { rig.feed(.stop) }
    #expect(rig.drive.engine.stopped?.at == end)
  }

  @Test("when the limit ends a drive within a fence too young for a lost ping, then that fence is not submitted")
  mutating func durationInYoungFence() throws {
    rig = DriveRig { $0.parameters.maximumDuration = .seconds(5) }
    try rig.startPinging()
    rig.fix(0)
    rig.wait(4.5)
    rig.ping(.answered(rttNanoseconds: 20_000_000), ago: 1)
    rig.fix(100)
    rig.wait(1)
    rig.tick()
    #expect(rig.drive.engine.fences.map(\.isSubmittable) == [true, false])
    var replay = Engine(parameters: rig.drive.engine.parameters)
    for event in rig.disk.events { _ = replay.handle(event) }
    #expect(replay.fences == rig.drive.engine.fences && rig.disk.fences[1]?.isSubmittable == false)
  }

  @Test("when the disk refuses the last fence, then the drive has no end in the store until the fence is written")
  mutating func refusedEnd() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.wait(1)
    rig.disk.storeFailure = ModelDisk.failing
    rig.feed(.stop)
    rig.feed(.ended)
    #expect(!rig.drive.isSaved && rig.disk.end == nil)
    #expect(rig.drive.journal.unsavedFenceCount == 1)
    rig.disk.storeFailure = nil
    rig.feed(.ended)
    #expect(rig.drive.isSaved && rig.disk.fences[0]?.exited == rig.now)
  }

  @Test("when no ping was sent, then the summary names the reason that lasted longest")
  mutating func silence() {
    rig.feed(.began)
    rig.feed(.path(.wifi))
    for second in 0..<4 {
      if second == 3 { rig.feed(.path(.offline)) }
      rig.wait(1)
      rig.tick()
    }
    rig.feed(.stop)
    rig.feed(.ended)
    #expect(
      rig.drive.summary(drive: 1, capture: nil, at: rig.now).silence == "the route left by wlan0, a Wi-Fi link")
  }

  // MARK: Status

  @Test("when gpsd is away all along, then the result of the drive says why it has no fence")
  mutating func fenceless() throws {
    try rig.startPinging()
    rig.feed(.positioning(.status(.disconnected(reason: "refused"))))
    rig.wait(4)
    rig.ping(.answered(rttNanoseconds: 1))
    rig.tick()
    rig.feed(.stop)
    rig.feed(.ended)
    let summary = rig.drive.summary(drive: 1, capture: nil, at: rig.now)
    #expect(summary.fencelessReason == "waiting for GPS (no gpsd: refused)")
  }

  @Test("when gpsd is away, then the status names that beside the missing position")
  mutating func receiver() {
    rig.feed(.began)
    rig.feed(.positioning(.status(.disconnected(reason: "refused"))))
    rig.wait(4)
    rig.tick()
    #expect(rig.status?.warnings.first == "waiting for GPS (no gpsd: refused)")
    rig.feed(.positioning(.status(.noFix)))
    rig.tick()
    #expect(rig.status?.warnings.first == "waiting for GPS (no gpsd: refused)", "the cause, not its consequence")
    // In the order of gpsd.
    rig.feed(.positioning(.status(.devices([]))))
    rig.feed(.positioning(.status(.connected(release: nil))))
    rig.feed(.positioning(.status(.noFix)))
    rig.tick()
    #expect(rig.status?.warnings.first == "waiting for GPS (gpsd has no receiver)")
    rig.feed(.positioning(.status(.devices(["/dev/ttyACM0"]))))
    rig.tick(isCaptureInTrouble: true)
    #expect(rig.status?.warnings.first == "waiting for GPS (no usable position)")
    #expect(rig.status?.warnings.last == "the packet capture is not complete")
  }

  @Test("when positions are not accurate enough, then the status says so", arguments: [nil, 40.2])
  mutating func inaccurate(accuracy: Double?) {
    rig.feed(.began)
    rig.feed(.positioning(.status(.positioned(device: "/dev/a"))))
    rig.wait(4)
    rig.fix(0, accuracy: accuracy)
    rig.tick()
    let cause = accuracy == nil ? "the receiver's positions have no accuracy" : "the position is accurate to 41 m only"
    #expect(rig.status?.warnings.first == "waiting for GPS (\(cause))")
  }

  @Test(
    "when a drive begins after gpsd has told its state, then the status names the same cause as in a drive that heard it",
    arguments: [
      ([.devices([]), .connected(release: nil), .noFix], "gpsd has no receiver"),
      ([.devices(["/dev/a"]), .connected(release: nil), .noFix], "no usable position"),
      ([.devices([]), .connected(release: nil), .disconnected(reason: "refused"), .noFix], "no gpsd: refused"),
      ([.devices([]), .disconnected(reason: "refused"), .connected(release: nil), .noFix], "gpsd has no receiver"),
      ([.positioned(device: "/dev/a"), .disconnected(reason: "refused"), .complaint("oh")], "no gpsd: refused"),
    ] as [([PositioningStatus], String)])
  mutating func laterDrive(statuses: [PositioningStatus], cause: String) {
    rig.feed(.began)
    var state = ReceiverState()
    statuses.forEach { state.note($0) }
    for status in state.statuses { rig.feed(.positioning(.status(status))) }
    rig.wait(4)
    rig.tick()
    #expect(rig.status?.warnings.first == "waiting for GPS (\(cause))")
  }

  @Test("when the disk recovers with a checkpoint, then the status of the same second is without trouble")
  mutating func diskTrouble() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.disk.storeFailure = ModelDisk.failing
    rig.wait(4)
    rig.tick()
    #expect(rig.status?.diskTrouble == "store: the disk fails")
    #expect(rig.status?.unsavedFences == 1)
    rig.disk.storeFailure = nil
    rig.wait(4)
    rig.tick()
    #expect(rig.status?.diskTrouble == nil && rig.status?.unsavedFences == 0)
  }
}

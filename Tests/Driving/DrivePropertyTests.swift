import Glibc
import Pinging
import TestSupport
import Testing

@testable import Coverage
@testable import Driving
@testable import Networking
@testable import Submission

/// Properties for every order of inputs (``RandomOrders``).
@Suite struct DrivePropertyTests {
  @Test("when inputs come in any order, then every effect is allowed by the model")
  func effects() throws {
    for seed in RandomOrders.seeds {
      var world = DriveWorld(seed: seed)
      for _ in 0..<200 where !world.rig.drive.isOver {
        try world.happen()
        let complaint = world.complaint
        #expect(complaint == nil, "seed \(seed)")
        if complaint != nil { break }
      }
    }
  }

  @Test("when the disk refuses some writes, then it has the whole drive at the end, and so has a replay of the log")
  func nothingLost() throws {
    for seed in RandomOrders.seeds {
      var world = DriveWorld(seed: seed)
      for _ in 0..<200 where !world.rig.drive.isOver { try world.happen() }
      world.end()
      let (engine, disk) = (world.rig.drive.engine, world.rig.disk)
      #expect(world.rig.drive.isSaved, "seed \(seed)")
      let begins = engine.fences.map(\.entered)
      #expect(zip(begins, begins.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed): a fence lasts 0 s")
      #expect(disk.fences.sorted { $0.key < $1.key }.map(\.value) == engine.fences, "seed \(seed)")
      #expect(disk.sessions.sorted { $0.key < $1.key }.map(\.value) == engine.sessions, "seed \(seed)")
      #expect(disk.end?.reason == engine.stopped?.reason && disk.end?.at == engine.stopped?.at, "seed \(seed)")
      #expect(disk.started == world.rig.drive.clock.started, "seed \(seed)")
      #expect(!disk.isLogHeld, "seed \(seed)")
      var replay = Engine(parameters: world.parameters, path: .cellular)
      for event in disk.events { _ = replay.handle(event) }
      #expect(replay.fences == engine.fences && replay.sessions == engine.sessions, "seed \(seed)")
    }
  }

  @Test("when there is a network, a clock and a server that answers, then pings are sent again from any state")
  func wayOut() throws {
    for seed in RandomOrders.seeds {
      var world = DriveWorld(seed: seed)
      for _ in 0..<seed % 150 where !world.rig.drive.isOver { try world.happen() }
      guard !world.rig.drive.isOver else { continue }
      let recovers = try world.recovers(within: 300)
      #expect(recovers, "seed \(seed)")
    }
  }
}

/// The model of a drive's surroundings. It keeps its own account of requests, pings and the log.
private struct DriveWorld {
  private var random: SeededGenerator
  var rig = DriveRig()
  private let account = Account()
  private var metres = 0.0
  private var step = Duration.zero
  private var tests = 0

  /// The account of all effects so far.
  private final class Account {
    var complaint: String?
    var isRequested = false
    var live: Set<PingTarget.ID> = []
    var isOnWiFi = false
    var replay = Engine()
    var lastGeneration = 0

    func note(_ effect: DriveEffect) {
      switch effect {
      case .requestTest(let request):
        if isRequested { complain("a test is requested while another request is under way") }
        if isOnWiFi { complain("a test is requested on Wi-Fi") }
        if request.generation <= lastGeneration { complain("test \(request.generation) is requested twice") }
        (isRequested, lastGeneration) = (true, request.generation)
      case .cancelRequest: isRequested = false
      case .beginPings:
        if isOnWiFi { complain("pings begin on Wi-Fi") }
      case .disk(.append(let event, _)):
        // The log is written before the engine of the drive handles the event; so this replay handles it first, too.
        _ = replay.handle(event)
        if case .path(let path) = event.kind { isOnWiFi = path == .wifi }
      case .disk(.write(let write)): check(write)
      default: break
      }
    }

    private func check(_ write: StoreWrite) {
      for fence in write.fences {
        guard let logged = replay.fences[safe: fence.number], fence.exited == nil || fence == logged else {
          complain("fence \(fence.number) goes to the store before its events are in the log")
          return
        }
      }
      for session in write.sessions where replay.sessions[safe: session.number] != session {
        complain("session \(session.number) goes to the store before its events are in the log")
      }
      let numbers = write.fences.map(\.number)
      if numbers != Set(numbers).sorted() { complain("a fence is twice in a write") }
    }

    func complain(_ text: String) { complaint = complaint ?? text }
  }

  /// The parameters of all worlds.
  var parameters: Parameters { Parameters() }

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    let account = account
    rig.onEffect = { account.note($0) }
    rig.feed(.began)
  }

  var complaint: String? {
    if let complaint = account.complaint { return complaint }
    if rig.liveTargets.count > 1 { return "two targets are pinged: \(rig.liveTargets)" }
    if account.isOnWiFi, !rig.liveTargets.isEmpty { return "pings continue on Wi-Fi" }
    return nil
  }

  // MARK: Inputs

  mutating func happen() throws {
    rig.wait(Double(Int.random(in: 0..<20, using: &random)) / 10)
    switch Int.random(in: 0..<22, using: &random) {
    case 0...3: fix()
    case 4...8: ping()
    case 9...10: rig.feed(.pingsRead)
    case 11: rig.feed(.path([.cellular, .cellular, .wifi, .offline, .modem("10.0.0.1"), .modem("10.0.0.2")][below(6)]))
    case 12:
      rig.feed(
        .radio(
          RadioReading(
            technology: [nil, Technology("4G/LTE"), Technology("5G/NRNSA")][below(3)],
            modem: [nil, ModemReading(), .sample][below(3)])))
    case 13...14: try answer()
    case 15: try strayAnswer()
    case 16: if Bool.random(using: &random) { try rig.resolve() } else { unresolved() }
    case 17:
      let host = "server.example"
      rig.feed(
        below(2) == 0
          ? .lookUpFailed(host: host, reason: "x") : .lookedUp(host: host, addresses: [try .sample(2 + below(3))]))
    case 18: disk()
    case 19...20:
      if below(8) == 0 { step = step + .seconds(Int.random(in: -3000..<3000, using: &random)) }
      rig.tick(step: step)
    default: if below(20) == 0 { rig.feed(.stop) }
    }
  }

  private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  private mutating func fix() {
    metres += Double(below(60))
    rig.fix(metres, accuracy: below(6) == 0 ? 80 : 4, ago: below(4) == 0 ? Double(below(15)) / 10 : 0)
  }

  private mutating func ping() {
    let kinds: [PingEvent.Kind] = [
      .answered(rttNanoseconds: 30_000_000), .answered(rttNanoseconds: 31_000_000), .lost(.unknown), .lost(.unknown),
      .late(rttNanoseconds: 2_000_000_000), .duplicate, .refused(rttNanoseconds: 1), .finished, .overflow(count: 3),
      .icmpError(type: 3, code: 1), .notSent(SendFailure(code: ENETUNREACH)), .cancelled,
    ]
    let kind = kinds[below(kinds.count)]
    let isLast = below(4) > 0
    let target = isLast ? rig.lastTarget : Int64(below(5))
    // A target that is pinged has not finished.
    if kind == .finished, rig.liveTargets.contains(target) { return }
    for _ in 0..<(below(6) == 0 ? 31 : 1) { rig.ping(kind, target: target, ago: Double(below(20)) / 10) }
  }

  /// The answer to the request under way.
  private mutating func answer() throws {
    guard rig.request != nil else { return }
    account.isRequested = false
    if below(3) == 0 { return rig.failRequest(TestTrouble("trouble \(below(5))")) }
    tests += 1
    let limit = ["", "\"max_coverage_measurement_seconds\": 20", "\"loop_uuid\": \"L\(below(2))\""][below(3)]
    _ = try rig.grant(below(9) == 0 ? "T1" : "T\(tests)", limit)
    if below(3) > 0 { try rig.resolve() }
  }

  /// An answer to a request that was cancelled: the server can have answered it before.
  private mutating func strayAnswer() throws {
    let generation = below(max(1, account.lastGeneration))
    guard generation != rig.request?.generation else { return }
    if Bool.random(using: &random) {
      rig.feed(.requestFailed(TestTrouble("too late"), for: generation))
    } else {
      tests += 1
      let grant = GrantedTest(
        coverage: try .sample("T\(tests)"), generation: generation, requested: .start, requestTime: .sampleStart)
      rig.feed(.granted(grant, for: generation))
    }
  }

  private mutating func unresolved() {
    if let (_, generation) = rig.latestResolve { rig.feed(.unresolved(reason: "no such host", for: generation)) }
  }

  private mutating func disk() {
    switch below(8) {
    case 0: rig.disk.storeFailure = ModelDisk.full
    case 1: rig.disk.storeFailure = ModelDisk.failing
    case 2:
      rig.disk.storeFailure = ModelDisk.damaged
      rig.disk.repairs = Bool.random(using: &random)
    case 3: rig.disk.logTrouble = "no space"
    case 4: rig.disk.reserveFileHelps.toggle()
    case 5: rig.pingTrouble = rig.pingTrouble == nil ? "no such interface" : nil
    default: (rig.disk.storeFailure, rig.disk.logTrouble) = (nil, nil)
    }
  }

  // MARK: Ends

  mutating func end() {
    rig.feed(.stop)
    rig.feed(.ended)
    (rig.disk.storeFailure, rig.disk.logTrouble) = (nil, nil)
    if !rig.drive.isSaved { rig.feed(.ended) }
  }

  mutating func recovers(within seconds: Int) throws -> Bool {
    (rig.disk.storeFailure, rig.pingTrouble) = (nil, nil)
    rig.feed(.path(.cellular))
    for _ in 0..<seconds {
      rig.wait(1)
      rig.tick(step: step)
      if rig.request != nil {
        account.isRequested = false
        tests += 1
        _ = try rig.grant("R\(tests)")
      }
      try rig.resolve()
      if !rig.liveTargets.isEmpty { return true }
    }
    return false
  }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}

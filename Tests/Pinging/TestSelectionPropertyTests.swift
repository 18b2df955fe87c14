import Coverage
import TestSupport
import Testing

@testable import Pinging

/// Properties for every order of events (``RandomOrders``).
@Suite struct TestSelectionPropertyTests {
  @Test("when events come in any order, then every decision is allowed by the model")
  func decisions() {
    for seed in RandomOrders.seeds {
      var world = World(seed: seed)
      for _ in 0..<150 {
        world.happen()
        let complaint = world.tick()
        #expect(complaint == nil, "seed \(seed)")
        if complaint != nil { break }
      }
    }
  }

  @Test("when there is a network, time and a server that answers, then pings are sent again from any state")
  func wayOut() {
    for seed in RandomOrders.seeds {
      var world = World(seed: seed)
      for _ in 0..<seed % 100 {
        world.happen()
        _ = world.tick()
      }
      let recovers = world.recovers(within: 300)
      #expect(recovers, "seed \(seed)")
    }
  }
}

/// The model of a session's surroundings. It never asks the session what it waits for.
private struct World {
  private struct Request {
    let generation: Int
    /// When the request times out; `nil`: never.
    var deadline: DriveTime?
    var isGranted = false
  }

  private var random: SeededGenerator
  private var session = TestSelection()
  private var now = DriveTime.start
  private var path = Path.cellular
  private var lastPath: Path?
  /// The one request that may be under way.
  private var request: Request?
  private var lastRequested = 0
  /// The test that pings must use, its end, and that of its token.
  private var test: (generation: Int, ends: DriveTime, expires: DriveTime)?
  /// Its answered pings in a row.
  private var answers = 0
  private var launched: [Int: DriveTime] = [:]
  private var isRefused = false
  /// The number of the current link and address, and that of each test's request.
  private var link = 0
  private var links: [Int: Int] = [:]
  private var hasHadTest = false
  private var decision = TestSelection.Decision.skip

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  // MARK: Events

  mutating func happen() {
    now = now + .milliseconds(100 * Int.random(in: 0..<30, using: &random))
    path = [.cellular, .cellular, .cellular, .wifi, .offline][Int.random(in: 0..<5, using: &random)]
    // Mostly the test that the session waits for or uses, else any.
    let expected = request?.generation ?? test?.generation ?? 1
    let generation = Int.random(in: 0..<4, using: &random) == 0 ? Int.random(in: 0..<20, using: &random) : expected
    switch Int.random(in: 0..<11, using: &random) {
    case 0: grant(generation)
    case 1: activate(generation, limit: Bool.random(using: &random) ? .seconds(30) : nil)
    case 2: fail(generation) { $0.requestFailed($1, at: $2) }
    case 3: fail(generation) { $0.activationFailed($1, at: $2) }
    case 4:
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        outcome(generation, answers: answers + 1) { $0.answered($1) }
      }
    case 5: for _ in 0..<40 { outcome(generation, answers: 0) { $0.failed($1) } }
    case 6: refuse(generation)
    case 7: session.filled(generation)
    case 8:
      session.linkChanged(at: now)
      loseLink()
    default: break
    }
  }

  /// Earlier tests and requests do not count any more.
  private mutating func loseLink() {
    link += 1
    (request, test, isRefused, answers) = (nil, nil, false, 0)
  }

  private mutating func grant(_ generation: Int) {
    session.granted(generation, at: now)
    guard request?.generation == generation else { return }
    hasHadTest = true
    request?.deadline = now + .seconds(5)
    request?.isGranted = true
  }

  private mutating func activate(_ generation: Int, limit: Duration?) {
    session.activated(generation, limit: limit, at: now)
    guard request?.generation == generation, let start = launched[generation] else { return }
    (request, isRefused, hasHadTest) = (nil, false, true)
    let longest = Duration.seconds(4 * 3600 - 120)
    test = (generation, start + min(limit ?? longest, longest), start + longest)
    answers = 0
  }

  private mutating func fail(_ generation: Int, _ report: (inout TestSelection, Int, DriveTime) -> Void) {
    report(&session, generation, now)
    if request?.generation == generation { request = nil }
  }

  private mutating func outcome(_ generation: Int, answers: Int, _ report: (inout TestSelection, Int) -> Void) {
    report(&session, generation)
    if test?.generation == generation { self.answers = answers }
  }

  private mutating func refuse(_ generation: Int) {
    session.refused(generation)
    if test?.generation == generation { isRefused = true }
  }

  // MARK: Decisions

  /// - Returns: The fault of the decision, if it has one.
  mutating func tick() -> String? {
    decision = session.tick(at: now, path: path)
    if let deadline = request?.deadline, now >= deadline { request = nil }
    let isBack = lastPath == .offline && path == .cellular
    if path == .wifi, lastPath != .wifi { loseLink() }
    lastPath = path
    if isBack, request?.isGranted == false {
      guard case .prepare = decision else { return "a request from before the network came back goes on" }
      request = nil
    }
    if path != .wifi, isRefused || test.map({ now >= (answers >= 30 ? $0.ends : $0.expires) }) == true {
      (test, isRefused) = (nil, false)
    }
    switch decision {
    case .prepare(let generation):
      if path == .wifi { return "a test is requested on Wi-Fi" }
      if let request { return "test \(generation) is requested while \(request.generation) is" }
      if generation <= lastRequested { return "test \(generation) is requested twice" }
      (lastRequested, launched[generation], links[generation]) = (generation, now, link)
      request = Request(generation: generation, deadline: hasHadTest ? now + .seconds(15) : nil)
    case .send(let generation):
      if path == .wifi { return "a ping on Wi-Fi" }
      if links[generation] != link { return "a ping on test \(generation), which belongs to another link" }
      if generation != test?.generation { return "a ping on test \(generation), not \(test?.generation ?? 0)" }
    case .skip:
      if path != .wifi, let test { return "no ping although there is test \(test.generation)" }
    }
    for (generation, itsLink) in links where session.mayUse(requestedFor: generation) != (itsLink == link) {
      return "test \(generation) \(itsLink == link ? "may not" : "may") be used"
    }
    return session.inUse == test?.generation
      ? nil : "\(session.inUse ?? 0) counts as in use, not \(test?.generation ?? 0)"
  }

  /// Whether pings are sent again when every request is answered.
  mutating func recovers(within seconds: Int) -> Bool {
    path = .cellular
    for _ in 0..<seconds {
      now = now + .seconds(1)
      if let request { activate(request.generation, limit: nil) }
      if tick() != nil { return false }
      if case .send = decision { return true }
    }
    return false
  }
}

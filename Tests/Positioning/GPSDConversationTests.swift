import Coverage
import Testing

@testable import Positioning

@Suite struct GPSDConversationTests {
  private var conversation = GPSDConversation(configuration: .init(), timings: .init(), startingAt: TestTime.at(0))

  private static let version = #"{"class":"VERSION","release":"3.22"}"# + "\r\n"
  private static let echo = #"{"class":"WATCH","enable":true,"json":true}"# + "\r\n"
  private static let badEcho = #"{"class":"WATCH","enable":true,"json":false}"# + "\r\n"

  private mutating func say(_ text: String, at seconds: Double) -> [GPSDConversation.Effect] {
    conversation.step(.bytes(Array(text.utf8)), at: TestTime.at(seconds))
  }

  private mutating func tick(_ seconds: Double) -> [GPSDConversation.Effect] {
    conversation.step(.tick, at: TestTime.at(seconds))
  }

  private mutating func connect(at seconds: Double = 0) {
    _ = conversation.start(at: TestTime.at(seconds))
    _ = conversation.step(.connected, at: TestTime.at(seconds))
  }

  private mutating func shakeHands(at seconds: Double = 0) {
    connect(at: seconds)
    _ = say(Self.version + Self.echo, at: seconds)
  }

  @Test mutating func whenGPSDGreets_thenTheWatchGoesOutAndItsEchoMakesTheConnection() {
    #expect(conversation.start(at: TestTime.at(0)).contains(.connect))
    #expect(conversation.step(.connected, at: TestTime.at(0)).isEmpty)
    #expect(say(Self.version, at: 4.9) == [.send("?WATCH={\"enable\":true,\"json\":true};\n")])
    #expect(say(Self.echo, at: 4.9).contains(.deliver(.status(.connected(release: "3.22")))))
  }

  @Test mutating func whenTheFirstEchoIsWrong_thenTheWatchIsSentOnceMore() {
    connect()
    _ = say(Self.version, at: 0)
    #expect(say(Self.badEcho, at: 1) == [.send(GPSDConversation.watch)])
    #expect(say(Self.echo, at: 1).contains(.deliver(.status(.connected(release: "3.22")))))
  }

  @Test mutating func whenTheSecondEchoIsWrongToo_thenTheConnectionIsGivenUp() {
    connect()
    _ = say(Self.version + Self.badEcho, at: 1)
    #expect(say(Self.badEcho, at: 2).first == .disconnect)
  }

  @Test mutating func whenGPSDClosesWithoutAnAnswer_thenTheReasonIsFullOrNotReady() throws {
    connect()
    let effects = conversation.step(.ended(nil), at: TestTime.at(0.1))
    #expect(reasons(effects) == ["gpsd is full or not ready (it closed the connection without an answer)"])
  }

  @Test mutating func `when the greeting is late, then each attempt waits ten seconds, without a pause between`() {
    _ = conversation.start(at: TestTime.at(0))
    for attempt in 0..<5 {
      let start = Double(attempt) * 10
      _ = conversation.step(.connected, at: TestTime.at(start))
      #expect(!tick(start + 9.9).contains(.disconnect))
      let effects = tick(start + 10)
      #expect(effects.contains(.disconnect))
      #expect(
        reasons(effects) == (attempt == 0 ? ["no answer in 10.0 s"] : []), "the same reason is not reported again")
      #expect(tick(start + 10).contains(.connect))
    }
  }

  @Test mutating func `when gpsd is slow to open its devices, then each attempt waits longer, until a handshake`() {
    var now = 0.0
    _ = conversation.start(at: TestTime.at(0))
    func patience() -> Double {
      _ = conversation.step(.connected, at: TestTime.at(now))
      _ = say(Self.version, at: now)
      let waited = stride(from: 0.5, through: 60, by: 0.5).first { tick(now + $0).contains(.disconnect) } ?? .nan
      now += waited
      #expect(tick(now).contains(.connect))
      return waited
    }
    #expect([patience(), patience(), patience(), patience()] == [8, 16, 30, 30])
    _ = conversation.step(.connected, at: TestTime.at(now))
    _ = say(Self.version + Self.echo, at: now + 6)
    now += 7
    _ = conversation.step(.ended(nil), at: TestTime.at(now))
    now += stride(from: 0.5, through: 60, by: 0.5).first { tick(now + $0).contains(.connect) } ?? .nan
    #expect(patience() == 8)
  }

  @Test mutating func whenTheEchoDoesNotCome_thenTheConnectionIsGivenUp() {
    connect()
    _ = say(Self.version, at: 4)
    #expect(!tick(11.9).contains(.disconnect))
    #expect(reasons(tick(12)) == ["no answer to WATCH in 8.0 s"])
  }

  @Test mutating func `when the stream is silent, then gpsd is asked, and without an answer the client disconnects`() {
    shakeHands()
    _ = say(#"{"class":"TPV","mode":1}"# + "\n", at: 10)
    // An unreadable line is no sign of life.
    _ = say("{broken\n", at: 14)
    #expect(tick(14.9).isEmpty)
    #expect(tick(15).contains(.send("?DEVICES;\n")))
    #expect(!tick(16.9).contains(.disconnect))
    #expect(reasons(tick(17)) == ["silent for 5.0 s, and no answer to a question in 2.0 s"])
    #expect(tick(17).contains(.connect), "at once: seven seconds have passed")
  }

  @Test mutating func `when the receiver is silent and gpsd answers, then the connection stays open`() {
    shakeHands()
    var (asked, disconnected) = (0, 0)
    for second in 1..<600 {
      let effects = tick(Double(second))
      disconnected += effects.count { $0 == .disconnect }
      for effect in effects where effect == .send("?DEVICES;\n") {
        asked += 1
        _ = say(#"{"class":"DEVICES","devices":[]}"# + "\n", at: Double(second) + 0.1)
      }
    }
    #expect(disconnected == 0)
    #expect((90...120).contains(asked))
  }

  @Test mutating func `when a server never answers questions, then it is asked less often, until it sends a report`() {
    func silence(from start: Double) -> Double {
      let waited = stride(from: 0.5, through: 60, by: 0.5).first { tick(start + $0).contains(.disconnect) } ?? .nan
      _ = tick(start + waited)
      _ = conversation.step(.connected, at: TestTime.at(start + waited))
      _ = say(Self.version + Self.echo, at: start + waited)
      return waited
    }
    shakeHands()
    var now = 0.0
    var waits: [Double] = []
    for _ in 0..<5 {
      waits.append(silence(from: now))
      now += waits.last ?? 0
    }
    #expect(waits == [7, 10, 10, 10, 10])
    _ = say(#"{"class":"TPV","mode":1}"# + "\n", at: now + 0.1)
    #expect(silence(from: now + 0.1) == 7)
  }

  @Test mutating func whenAttemptsFail_thenThePausesDoubleTo5SecondsAndAGoodHandshakeResetsThem() {
    _ = conversation.start(at: TestTime.at(0))
    var (now, pauses) = (0.0, [Double]())
    for _ in 0..<7 {
      _ = conversation.step(.connectionFailed("refused"), at: TestTime.at(now))
      let pause = (1...40).first { tick(now + Double($0)).contains(.connect) }.map(Double.init) ?? .nan
      pauses.append(pause)
      now += pause
    }
    #expect(pauses == [1, 2, 4, 5, 5, 5, 5])
    _ = conversation.step(.connected, at: TestTime.at(now))
    _ = say(Self.version + Self.echo, at: now)
    _ = conversation.step(.ended(nil), at: TestTime.at(now + 1))
    #expect(tick(now + 2).contains(.connect))
  }

  @Test(arguments: ["127.0.0.1", "127.1.2.3", "localhost", "::1", "192.0.2.1", "gps.example", "127.example"])
  func `when gpsd runs on another host, then the longest pause is 10 s`(host: String) {
    var conversation = GPSDConversation(
      configuration: .init(host: host), timings: .init(), startingAt: TestTime.at(0))
    _ = conversation.start(at: TestTime.at(0))
    var (now, pause) = (0.0, 0.0)
    for _ in 0..<7 {
      _ = conversation.step(.connectionFailed("refused"), at: TestTime.at(now))
      pause =
        (1...40).first { conversation.step(.tick, at: TestTime.at(now + Double($0))).contains(.connect) }
        .map(Double.init) ?? .nan
      now += pause
    }
    #expect(pause == (["192.0.2.1", "gps.example", "127.example"].contains(host) ? 10 : 5))
  }

  @Test mutating func whenTheSameReasonComesAgain_thenItIsReportedOnceAndLoggedEachMinute() {
    _ = conversation.start(at: TestTime.at(0))
    var (reported, logged) = (0, 0)
    for second in 0..<150 {
      let effects = conversation.step(.connectionFailed("refused"), at: TestTime.at(Double(second)))
      reported += effects.count { $0 == .deliver(.status(.disconnected(reason: "refused"))) }
      logged += effects.count { $0 == .log(.disconnected(reason: "refused"), leftOut: second == 0 ? 0 : 59) }
    }
    #expect(reported == 1)
    #expect(logged == 3)
  }

  @Test mutating func whenTheConnectionComesBackAfterALoggedEnd_thenThatIsLogged() {
    shakeHands()
    _ = conversation.step(.ended(nil), at: TestTime.at(1))
    _ = tick(2)
    _ = conversation.step(.connectionFailed("gpsd closed the connection"), at: TestTime.at(2))
    _ = tick(4)
    _ = conversation.step(.connected, at: TestTime.at(4))
    #expect(say(Self.version + Self.echo, at: 4).contains(.log(.connected(release: "3.22"), leftOut: 1)))
  }

  @Test mutating func whenAFixCameBeforeTheConnectionWentAway_thenTheLossIsReportedDuringThePause() {
    shakeHands()
    let position = #"{"class":"TPV","mode":3,"lat":48.2,"lon":16.3,"eph":8.1}"# + "\n"
    _ = say(position, at: 1)
    _ = conversation.step(.ended(nil), at: TestTime.at(1.1))
    let effects = [1.2, 2, 3, 6].flatMap { tick($0) }
    let fixes = effects.compactMap { if case .deliver(let event) = $0 { event } else { nil } }.fixes
    #expect(fixes.map { $0.fix == .lost } == [false, true])
  }

  @Test mutating func whenLinesAreBrokenOrTooLong_thenTheyAreCountedAndTheSessionGoesOn() throws {
    shakeHands()
    let tooLong = String(repeating: "x", count: 70_000)
    let effects = say("garbage\n\(tooLong)\n{\"class\":\"NEW\"}\n{\"class\":\"ERROR\",\"message\":\"oh\"}\n", at: 1)
    #expect(effects.contains(.deliver(.status(.complaint("oh")))))
    #expect(!effects.contains(.disconnect))
    _ = conversation.step(.ended(nil), at: TestTime.at(2))
    guard case .deliver(.counters(let counters))? = conversation.finish().first else { throw Missing() }
    #expect((counters[.brokenLines], counters[.overlongLines], counters[.otherClasses]) == (1, 1, 1))
    #expect((counters[.complaints], counters[.disconnections], counters[.reports]) == (1, 1, 4))
  }

  /// A new attempt without a pause is due at once: one more tick makes it.
  @Test mutating func whenNothingIsDue_thenTheNextDeadlineIsInTheFuture() {
    shakeHands()
    for step in 0..<2000 {
      let now = TestTime.at(Double(step) / 10)
      var ticks = 0
      repeat {
        for effect in conversation.step(.tick, at: now) where effect == .connect {
          _ = conversation.step(.connected, at: now)
          _ = say(Self.version + Self.echo, at: Double(step) / 10)
        }
        ticks += 1
      } while conversation.nextDeadline <= now.instant && ticks < 2
      #expect(conversation.nextDeadline > now.instant)
    }
  }

  private struct Missing: Error {}

  private func reasons(_ effects: [GPSDConversation.Effect]) -> [String] {
    effects.compactMap { if case .deliver(.status(.disconnected(let reason))) = $0 { reason } else { nil } }
  }
}

import Foundation
import Synchronization
import Testing

@testable import SpeedTest

/// Opening a connection until its first command, on real sockets. Edges are those of docs/protocol.md, 9.
@Suite struct ConnectorTests {
  private struct Rig {
    let clock: StepClock
    let server: LoopbackServer
    var plan: SpeedTestPlan

    init(
      clock: StepClock = StepClock(), speaksHTTP: Bool = false, family: Int32 = AF_INET,
      react: @escaping LoopbackServer.React = { _ in .serve }
    ) throws {
      self.clock = clock
      server = try LoopbackServer(clock: clock, speaksHTTP: speaksHTTP, family: family, react: react)
      let host = family == AF_INET ? "127.0.0.1" : "::1"
      plan = SpeedTestPlan(host: host, port: server.port, token: try MeasurementToken("t_1_x"))
      plan.opening = speaksHTTP ? .http : .native
    }

    func open(addresses: Addresses? = nil, until latest: Int64 = .max) throws -> Connection {
      let all = try addresses ?? Addresses(host: plan.host, port: plan.port, family: plan.access.family)
      return try Connector(plan: plan, addresses: all, tls: nil, waiting: clock.waiting()).open(until: latest)
    }
  }

  /// A server that answers the first `line` with `fault`, and then serves.
  private func rig(_ line: String, _ fault: LoopbackServer.Reaction, clock: StepClock = StepClock()) throws -> Rig {
    let once = Once()
    return try Rig(clock: clock) { $0.line == line && once.isFirst ? fault : .serve }
  }

  @Test("When a server accepts the token, then the next command may be written")
  func opens() throws {
    let rig = try Rig()
    let connection = try rig.open()
    #expect(connection.conversation.isReady)
    #expect(connection.conversation.sizes?.largest == 4_194_304)
    #expect(connection.encryption == nil)
    #expect(rig.server.lines(0) == ["connect", "TOKEN t_1_x"])
  }

  @Test(
    "Edges 1 to 3: when the server speaks HTTP, then one request opens the connection, and a NUL before the greeting is skipped"
  )
  func opensByHTTP() throws {
    let rig = try Rig(speaksHTTP: true)
    let connection = try rig.open()
    #expect(connection.conversation.version == "1.3.5")
    #expect(rig.server.lines(0) == ["connect", "GET /rmbt HTTP/1.1", "TOKEN t_1_x"])
  }

  @Test("Edge 5: when a fresh connection is closed or reset, then another one is opened", arguments: [false, true])
  func retries(resets: Bool) throws {
    let rig = try rig("connect", resets ? .reset : .close)
    #expect(try rig.open().conversation.isReady)
    #expect(rig.server.count == 2)
  }

  @Test("Edge 5: when a fresh connection is reset before the client sees it connected, then another one is opened")
  func resetWhileConnecting() throws {
    let rig = try rig("connect", .reset)
    let calls = Mutex(0)
    // The second call comes between the system's connect and the check of its result.
    let clock = TestClock(
      now: {
        let call = calls.withLock { count in
          count += 1
          return count
        }
        if call == 2 {
          for _ in 0..<10_000 where !rig.server.lines(0).contains("end") { usleep(1000) }
        }
        return rig.clock.now
      }, isAborted: { false })
    let addresses = try Addresses(host: rig.plan.host, port: rig.plan.port, family: .ipv4)
    let waiting = Waiting(clock: clock, deadline: .max)
    let connector = Connector(plan: rig.plan, addresses: addresses, tls: nil, waiting: waiting)
    #expect(try connector.open(until: .max).conversation.isReady)
    #expect(rig.server.count == 2)
  }

  @Test("Edge 7: when the connection ends after TOKEN, then the token was refused, and there is no second attempt")
  func closedBehindToken() throws {
    for reaction in [LoopbackServer.Reaction.close, .say("ERR\n")] {
      let rig = try rig("TOKEN t_1_x", reaction)
      #expect(throws: SpeedTestError.tokenRefused) { try rig.open() }
      #expect(rig.server.count == 1)
    }
  }

  @Test("When an upgrade is refused, then the error has the status, and there is no second attempt")
  func refusedUpgrade() throws {
    var rig = try Rig { $0.line == "connect" ? .say("HTTP/1.1 426 Upgrade Required\r\n\r\n") : .serve }
    rig.plan.opening = .http
    #expect(throws: SpeedTestError.upgradeRefused("HTTP/1.1 426 Upgrade Required")) { try rig.open() }
    #expect(rig.server.count == 1)
  }

  @Test("When the latest time has come, then no connection is opened")
  func tooLate() throws {
    let rig = try Rig()
    #expect(throws: SpeedTestError.timeout("the token is too old for another connection")) {
      try rig.open(until: rig.clock.now)
    }
    #expect(rig.server.count == 0)
    #expect(try rig.open(until: rig.clock.now + 1).conversation.isReady)
  }

  @Test("When the first address refuses, then the next one is used")
  func nextAddress() throws {
    let rig = try Rig()
    // Bound and not listening: connecting to it is refused, and no other program can take it meanwhile.
    let closed = try BoundPort()
    let refusing = try Addresses(host: "127.0.0.1", port: closed.port, family: .ipv4)
    let good = try Addresses(host: "127.0.0.1", port: rig.plan.port, family: .ipv4)
    #expect(try rig.open(addresses: Addresses(refusing.list + good.list)).conversation.isReady)
    #expect(throws: SpeedTestError.unreachable("Connection refused")) {
      try rig.open(addresses: Addresses(refusing.list + refusing.list))
    }
  }

  @Test("When a server listens on IPv6, then its address works")
  func version6() throws {
    let rig = try Rig(family: AF_INET6)
    #expect(try rig.open().conversation.isReady)
  }

  @Test("When a test is aborted while a connection opens, then the error says so, also with further addresses")
  func aborted() throws {
    let clock = StepClock()
    let rig = try Rig(clock: clock) { entry in
      if entry.line == "connect" { clock.abort() }
      return .silence(0)
    }
    #expect(throws: SpeedTestError.aborted) { try rig.open() }
    let late = try Rig(clock: clock)
    let all = try Addresses(host: "127.0.0.1", port: late.plan.port, family: .ipv4)
    #expect(throws: SpeedTestError.aborted) { try late.open(addresses: Addresses(all.list + all.list)) }
  }

  @Test("When an old server names one chunk size, then only this size is used")
  func oldServer() throws {
    let rig = try Rig {
      $0.line == "TOKEN t_1_x" ? .say("OK\nCHUNKSIZE 8192\n" + LoopbackServer.ready) : .serve
    }
    #expect(try rig.open().conversation.sizes == ChunkSizes([8192]))
  }

  @Test("When the server accepts the token without sizes, then the protocol is broken")
  func noSizes() throws {
    let rig = try Rig { $0.line == "TOKEN t_1_x" ? .say("OK\n" + LoopbackServer.ready) : .serve }
    #expect {
      _ = try rig.open()
    } throws: { error in
      if case SpeedTestError.protocolError? = error as? SpeedTestError { true } else { false }
    }
  }
}

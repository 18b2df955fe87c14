import CLibssl
import Foundation
import Testing

@testable import SpeedTest

/// TLS against OpenSSL's server in this process. Edges are those of docs/protocol.md, 9.
@Suite(.enabled(if: TestCertificates.canBeMade, "openssl is not installed"))
struct TLSTests {
  private struct Lab {
    let clock: StepClock
    let server: LoopbackServer
    let certificates: TestCertificates

    init(
      _ certificate: String, newest: Int32 = TLS1_3_VERSION, wantsCertificate: Bool = false,
      clock: StepClock = StepClock(),
      react: @escaping LoopbackServer.React = { _ in .serve }
    ) async throws {
      self.clock = clock
      certificates = try await TestCertificates.shared.value
      let tls = try certificates.server(certificate, newest: newest)
      if wantsCertificate { SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil) }
      server = try LoopbackServer(clock: clock, tls: tls, react: react)
    }

    /// Opens a connection to `host`, which must be this machine.
    func open(_ host: String, verifies: Bool = true, caFile: String? = nil) throws -> Connection {
      var plan = SpeedTestPlan(host: host, port: server.port, token: try MeasurementToken("t"))
      plan.opening = .native
      let context = try TLSContext(verifies: verifies, caFile: caFile ?? certificates.authority)
      return try Connector(
        plan: plan, addresses: try Addresses(host: "127.0.0.1", port: server.port, family: .ipv4), tls: context,
        waiting: clock.waiting()
      ).open(until: .max)
    }
  }

  private func reason(_ body: () throws -> some Any) -> String? {
    do {
      _ = try body()
      return nil
    } catch SpeedTestError.tls(let reason), SpeedTestError.untrusted(let reason) {
      return reason
    } catch {
      return "no error of TLS: \(error)"
    }
  }

  @Test("When the certificate is valid for the name, then the connection opens, and the name is in SNI")
  func valid() async throws {
    let lab = try await Lab("localhost")
    let connection = try lab.open("localhost")
    #expect(connection.conversation.isReady)
    #expect(connection.encryption?.hasPrefix("TLSv1.3 (TLS_") == true)
    #expect(lab.server.lines(0).prefix(3) == ["connect", "SNI localhost", "TOKEN t"])
  }

  @Test("Edge 4: when the server is an address, then no SNI is sent, and the certificate must have the address")
  func address() async throws {
    let lab = try await Lab("address")
    let connection = try lab.open("127.0.0.1")
    #expect(connection.conversation.isReady)
    #expect(lab.server.lines(0).prefix(3) == ["connect", "SNI none", "TOKEN t"])
  }

  @Test("When the authority is unknown, then the error says so, and no token is sent")
  func unknownAuthority() async throws {
    let lab = try await Lab("localhost")
    let reason = reason { try lab.open("localhost", caFile: lab.certificates.otherAuthority) }
    #expect(reason?.hasPrefix("unable to get local issuer certificate") == true, "\(reason ?? "none")")
    #expect(reason?.contains("--") == false, "the command knows its options")
    #expect(!lab.server.journal.contains { $0.line.hasPrefix("TOKEN") })
  }

  @Test(
    "When the certificate is for another name or address, then the error says so, and no token is sent",
    arguments: [
      ("elsewhere", "localhost", "hostname mismatch"), ("elsewhere", "127.0.0.1", "IP address mismatch"),
      ("address", "localhost", "hostname mismatch"), ("localhost", "127.0.0.1", "IP address mismatch"),
    ])
  func wrongName(certificate: String, host: String, text: String) async throws {
    let lab = try await Lab(certificate)
    let reason = reason { try lab.open(host) }
    #expect(reason?.lowercased().hasPrefix(text.lowercased()) == true, "\(reason ?? "none")")
    #expect(!lab.server.journal.contains { $0.line.hasPrefix("TOKEN") })
    #expect(lab.server.count == 1)
  }

  @Test("When certificates are not verified, then any is accepted, and the name is still in SNI")
  func insecure() async throws {
    let lab = try await Lab("elsewhere")
    #expect(try lab.open("localhost", verifies: false, caFile: lab.certificates.otherAuthority).conversation.isReady)
    #expect(lab.server.lines(0).contains("SNI localhost"))
  }

  @Test(
    "When the server refuses a handshake without verification, then the reason is the server's alert, not a certificate"
  )
  func refusedInsecure() async throws {
    let lab = try await Lab("elsewhere", newest: TLS1_2_VERSION, wantsCertificate: true)
    let reason = reason { try lab.open("localhost", verifies: false, caFile: lab.certificates.otherAuthority) }
    #expect(reason?.contains("alert handshake failure") == true, "\(reason ?? "none")")
  }

  @Test("When the server speaks TLS 1.2 at most, then TLS 1.2 is used and named")
  func version12() async throws {
    let lab = try await Lab("localhost", newest: TLS1_2_VERSION)
    #expect(try lab.open("localhost").encryption?.hasPrefix("TLSv1.2 (") == true)
  }

  @Test("When the server speaks TLS 1.1 at most, then it is refused")
  func version11() async throws {
    let lab = try await Lab("localhost", newest: TLS1_1_VERSION)
    let reason = reason { try lab.open("localhost") }
    #expect(reason?.contains("no error of TLS") == false, "\(reason ?? "none")")
    #expect(!lab.server.journal.contains { $0.line.hasPrefix("TOKEN") })
  }

  @Test("When the server speaks no TLS, then the error says so, and there is no second attempt")
  func noTLS() async throws {
    let clock = StepClock()
    let server = try LoopbackServer(clock: clock)
    let certificates = try await TestCertificates.shared.value
    var plan = SpeedTestPlan(host: "localhost", port: server.port, token: try MeasurementToken("t"))
    plan.opening = .native
    let connector = Connector(
      plan: plan, addresses: try Addresses(host: "127.0.0.1", port: server.port, family: .ipv4),
      tls: try TLSContext(verifies: true, caFile: certificates.authority), waiting: clock.waiting())
    #expect(throws: SpeedTestError.noTLS) { try connector.open(until: .max) }
    #expect(server.count == 1)
  }

  @Test("Edge 5: when the connection is closed instead of a handshake, then another one is opened")
  func closedInHandshake() async throws {
    let once = Once()
    let lab = try await Lab("localhost") { $0.line == "connect" && once.isFirst ? .close : .serve }
    #expect(try lab.open("localhost").conversation.isReady)
    #expect(lab.server.count == 2)
  }

  @Test(
    "When the file of certificates is missing, then a test with verification does not begin, and a test without it does"
  )
  func noFile() throws {
    #expect(throws: SpeedTestError.tls("cannot read certificates from /nowhere.pem")) {
      try TLSContext(verifies: true, caFile: "/nowhere.pem")
    }
    #expect(throws: Never.self) { try TLSContext(verifies: false, caFile: "/nowhere.pem") }
  }

  @Test("Edge 32: when chunks are larger than records, then flags in later records end them, and all bytes count")
  func records() async throws {
    let lab = try await Lab("localhost")
    let connection = try lab.open("localhost")
    var points: [Int64] = []
    let time = try connection.download(.getChunks(count: 3, size: 1_000_000), size: 1_000_000) { points.append($1) }
    #expect(time == 250_000_000)
    #expect(points.last == 3_000_000)
    var generator = SystemRandomNumberGenerator()
    var writer = ChunkWriter(size: 1_000_000, generator: &generator)
    try connection.beginUpload(.putNoResult(size: 1_000_000))
    #expect(try connection.upload(batch: &writer, chunks: 3, size: 1_000_000) == 250_000_000)
    #expect(writer.bytes == 3_000_000)
    #expect(try connection.ping(since: 0).server == 30_000_000)
  }

  @Test("Edges 32 and 33: when the server ends without close_notify after BYE, then QUIT is no error")
  func quit() async throws {
    let lab = try await Lab("localhost")
    let connection = try lab.open("localhost")
    connection.quit()
    #expect(lab.server.lines(0).contains("QUIT"))
    #expect(!connection.conversation.isReady)
  }

  @Test("Edge 32: when the server ends without close_notify in the middle of a command, then the connection is closed")
  func endWithoutNotice() async throws {
    let lab = try await Lab("localhost") { $0.line == "PING" ? .close : .serve }
    let connection = try lab.open("localhost")
    #expect(throws: SpeedTestError.closed) { try connection.ping(since: 0) }
  }

  @Test(
    "When the server is silent during a handshake, then a wait ends at its time; plain text then fails the handshake")
  func silentHandshake() async throws {
    let clock = StepClock()
    let pair = try SocketPair()
    let certificates = try await TestCertificates.shared.value
    let context = try TLSContext(verifies: true, caFile: certificates.authority)
    let socket = try TLSSocket(PlainSocket(descriptor: dup(pair.ours)), context: context, host: "localhost")
    #expect(try socket.handshake() == Int16(POLLIN))
    #expect(try socket.handshake() == Int16(POLLIN))
    #expect(try clock.waiting().wait(on: socket.descriptor, for: Int16(POLLIN), until: clock.now) == false)
    pair.send(Array("RMBTv1.3.5\nACCEPT TOKEN QUIT\n".utf8))
    #expect(throws: SpeedTestError.self) { try socket.handshake() }
  }
}

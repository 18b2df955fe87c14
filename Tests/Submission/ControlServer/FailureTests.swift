import Coverage
import Glibc
import Networking
import Testing

@testable import Submission

/// Connection errors as failures: fences may be sent again only if no byte of the request can have left.
struct FailureTests {
  private func failure(
    _ cause: FetchFailure.Cause, mayHaveArrived: Bool, url: String = "https://host/x", version: IPVersion? = nil,
    distrust: String? = nil
  ) -> ServerFailure {
    ServerFailure(
      FetchFailure(cause, mayHaveArrived: mayHaveArrived), url: url, version: version, within: .seconds(5),
      distrust: distrust)
  }

  @Test("when no byte of the request has left, then the failure is unreachable, otherwise the request may have arrived")
  func words() {
    let silences: Set<FetchFailure.Cause> = [.timeout, .noAddress(host: "h"), .interface("wwan0", 19)]
    for (cause, reason) in [
      (.timeout, "no answer within 5.0 seconds"), (.system(111), "Connection refused"),
      (.system(104), "Connection reset by peer"), (.noAddress(host: "h"), "the name h cannot be resolved"),
      (.otherName, "its certificate is for another name than the one in control-server.url"),
      (.closed, "it closed the connection without an answer"),
      (.interface("wwan0", 19), "cannot use interface wwan0: No such device"),
      (.noTLS, "it does not speak TLS there; is control-server.url an http:// one?"),
      (.tls("handshake failure"), "the TLS handshake failed (handshake failure)"),
      (.otherProtocol([0x15, 3, 3]), "it speaks TLS there; is control-server.url an https:// one?"),
      (
        .otherProtocol(Array("SSH-2.0-X\r\n".utf8)),
        "it does not speak HTTP there: its answer begins with \"SSH-2.0-X  \""
      ),
    ] as [(FetchFailure.Cause, String)] {
      let text = "https://host/x: \(reason)"
      let isAnswered = if case .otherProtocol = cause { true } else { false }
      // Silence is how a dead zone looks; a refusal, a certificate or an alert is not.
      let isNoise = !silences.contains(cause)
      let unresolved = if case .noAddress(let host) = cause { host } else { nil as String? }
      #expect(
        failure(cause, mayHaveArrived: false)
          == (isAnswered
            ? .unusableAnswer(text) : .unreachable(text, mayHaveNetwork: isNoise, unresolved: unresolved)))
      #expect(
        failure(cause, mayHaveArrived: true)
          == (isAnswered ? .unusableAnswer(text) : .noAnswer(text, mayHaveNetwork: isNoise)))
    }
    // The ways in which the kernel says that nothing came back.
    for silent in [ENETUNREACH, EHOSTUNREACH, ETIMEDOUT, ENETDOWN, EADDRNOTAVAIL] {
      #expect(!failure(.system(silent), mayHaveArrived: false).mayHaveNetwork)
    }
    for url in ["http://127.0.0.1:8080/x", "https://localhost/x", "http://[::1]:8080/x"] {
      #expect(
        !failure(.system(111), mayHaveArrived: false, url: url).mayHaveNetwork, "a trial without its server is offline")
    }
    #expect(failure(.cancelled, mayHaveArrived: false) == .unreachable("https://host/x: stopped before it was sent"))
    #expect(failure(.cancelled, mayHaveArrived: true) == .noAnswer("https://host/x: stopped before it answered"))
    #expect(
      failure(.noAddress(host: "h"), mayHaveArrived: false, version: .ipv6)
        == .unreachable(
          "https://host/x: h cannot be resolved to an IPv6 address, and pings.ip-version is 6", unresolved: "h"))
    #expect(
      failure(.closed, mayHaveArrived: true, url: "http://host")
        == .noAnswer(
          "http://host: it closed the connection without an answer; if it expects TLS, control-server.url must be an "
            + "https:// one", mayHaveNetwork: true))
  }

  @Test("when the reason for the distrust is known, then it replaces the error; the URL is shown without its password")
  func distrust() {
    let failure = failure(
      .untrusted, mayHaveArrived: false, url: "https://user:secret@host", distrust: "its certificate expired")
    #expect(failure == .unreachable("https://host: its certificate expired", mayHaveNetwork: true))
    #expect(failure.description == "cannot reach the control server https://host: its certificate expired")
  }

  @Test(
    "when a chain of certificates is read, then the line names the one that has expired, or says that none is known",
    arguments: [
      ([("Jan  1 00:00:00 2026 GMT", "Jan  1 00:00:00 2028 GMT")], "its certificate is not trusted: neither"),
      ([("Jan  1 00:00:00 2026 GMT", "Feb  9 00:00:00 2026 GMT")], "its certificate expired on 2026-02-09T00:00:00Z"),
      ([("Jan  1 00:00:00 2030 GMT", "Jan  1 00:00:00 2031 GMT")], "its certificate is not valid before 2030-01-01"),
      (
        [("Jan  1 00:00:00 2026 GMT", "Jan  1 00:00:00 2028 GMT"), ("", "Jan 31 00:00:00 2026 GMT")],
        "the certificate of an intermediate authority expired on 2026-01-31T00:00:00Z"
      ),
      ([("nonsense", "Jan 99 00:00:00 2026 GMT")], "its certificate is not trusted"),
    ])
  func chains(certificates: [(String, String)], expected: String) throws {
    let now = try #require(WallTime(iso8601: "2026-11-25T00:00:00Z"))
    let reason = try #require(Distrust.reason(certificates.map { (begin: $0.0, end: $0.1) }, now: now))
    #expect(reason.hasPrefix(expected), "\(reason)")
    #expect(Distrust.reason([], now: now) == nil)
  }

  @Test("when an answer asks for a wait, then its failure has that wait; other failures have none")
  func waits() {
    #expect(ServerFailure.tooManyRequests(retryAfter: .seconds(7)).retryAfter == .seconds(7))
    #expect(
      ServerFailure.serverTrouble(status: 503, message: "", retryAfter: .seconds(8)).retryAfter == .seconds(8))
    for failure in [
      ServerFailure.unreachable("x"), .noAnswer("x"), .refused(status: 400, message: "x"),
      .notTheServer(status: 200, found: "x"), .unusableAnswer("x"),
    ] {
      #expect(failure.retryAfter == nil)
    }
    #expect(
      ServerFailure.tooManyRequests(retryAfter: .zero).description
        == "the control server asks for fewer requests (429)", "a wait of 0 s is not shown")
  }

  @Test(
    "when an answer cannot be used, then the line names the member",
    arguments: [
      (#"{}"#, "no test_uuid"), (#"{"test_uuid":"T"}"#, "ping_token is not Base64 of 16 bytes"),
      (#"{"test_uuid":"T\n"}"#, "test_uuid is no UUID"),
      (#"{"test_uuid":"T","ping_token":"aOd4ALM2UBOl/LOaoRW9UA=="}"#, "no ping_host"),
      (#"{"test_uuid":"T","ping_token":"aOd4ALM2UBOl/LOaoRW9UA==","ping_host":"h\t"}"#, "ping_host is no host"),
      (#"{"test_uuid":"T","ping_token":"aOd4ALM2UBOl/LOaoRW9UA==","ping_host":"h"}"#, "ping_port is no port"),
    ])
  func unusable(body: String, reason: String) throws {
    let escaped = body.replacing("\n", with: "\\n").replacing("\t", with: "\\t")
    let failure = try #require(#expect(throws: ServerFailure.self) { try CoverageGrant(.init(escaped.utf8)) })
    #expect(failure.description == "the control server's answer cannot be used: \(reason)")
  }
}

import AsyncHTTPClient
import Coverage
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import ControlServer

/// Connection errors as failures: fences may be sent again only if no byte of the request can have left.
struct FailureTests {
  private func failure(_ error: any Error, url: String = "https://host/x", distrust: String? = nil) -> ServerFailure {
    .noAnswer(from: url, error, within: .seconds(5), distrust: distrust)
  }

  @Test("when no connection was established, then the failure is unreachable: nothing was sent")
  func unreachable() {
    for (error, reason) in [
      (HTTPClientError.connectTimeout, "no answer within 5.0 seconds"),
      (IOError(errnoCode: 111, reason: "connect"), "Connection refused"),
      (
        BoundRequest.FamilyError(host: "h", family: .ipv6),
        "h has no IPv6 address, and pings.ip-version is 6"
      ),
      (
        NIOSSLExtraError.failedToValidateHostname,
        "its certificate is for another name than the one in control-server.url"
      ),
    ] as [(any Error, String)] {
      #expect(failure(error) == .unreachable("https://host/x: \(reason)"))
    }
  }

  @Test("when a connection was established, then the failure is no answer: the request may have arrived")
  func noAnswer() {
    for (error, reason) in [
      (HTTPClientError.deadlineExceeded, "no answer within 5.0 seconds"),
      (HTTPClientError.readTimeout, "no answer within 5.0 seconds"),
      (HTTPClientError.remoteConnectionClosed, "it closed the connection without an answer"),
      (HTTPClientError.cancelled, "stopped before it answered"), (CancellationError(), "stopped before it answered"),
      (ChannelError.eof, "it closed the connection without an answer"),
      (ChannelError.connectTimeout(.seconds(1)), "no answer within 5.0 seconds"),
      (IOError(errnoCode: 104, reason: "read"), "Connection reset by peer"),
      (IOError(errnoCode: 32, reason: "write"), "Broken pipe"),
    ] as [(any Error, String)] {
      #expect(failure(error) == .noAnswer("https://host/x: \(reason)"))
    }
  }

  @Test("when the TLS handshake fails without a reason from BoringSSL, then the line has no reason")
  func handshake() {
    #expect(
      failure(NIOSSLError.handshakeFailed(.syscallError)) == .unreachable("https://host/x: the TLS handshake failed"))
  }

  @Test("when the server refuses the TLS handshake, then the line has the full reason from BoringSSL")
  func alert() async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(HandshakeAlert()) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let url = "https://127.0.0.1:\(server.localAddress?.port ?? 0)"
    let failure = await #expect(throws: ServerFailure.self) {
      try await ClientSlowTests().withClient(of: url) { try await $0.settings(clientUUID: nil) }
    }
    try await server.close()
    #expect(failure == .unreachable("\(url): the TLS handshake failed (HANDSHAKE_FAILURE_ON_CLIENT_HELLO)"))
  }

  @Test("when the reason for the distrust is known, then it replaces the error; the URL is shown without its password")
  func distrust() {
    let failure = failure(
      NIOSSLError.handshakeFailed(.syscallError), url: "https://user:secret@host", distrust: "its certificate expired")
    #expect(failure == .unreachable("https://host: its certificate expired"))
    #expect(failure.description == "cannot reach the control server https://host: its certificate expired")
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

  @Test("when a connection cannot be bound, then the line names the interface and the reason")
  func interface() {
    #expect(
      BoundRequest.InterfaceError(interface: "wwan0", code: 19).description
        == "cannot use interface wwan0: No such device")
  }
}

/// Answers a TLS handshake with the alert 40, `handshake_failure`.
private final class HandshakeAlert: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: [0x15, 3, 3, 0, 2, 2, 40])), promise: nil)
  }
}

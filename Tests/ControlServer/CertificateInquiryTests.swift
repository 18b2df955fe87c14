import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import ControlServer

/// The second look at a server whose certificate is not trusted. ClientSlowTests has those with certificates.
struct CertificateInquiryTests {
  @Test("when an error is not about a certificate, then there is nothing to look at")
  func otherErrors() {
    #expect(!CertificateInquiry.concerns(ChannelError.eof))
    #expect(!CertificateInquiry.concerns(NIOSSLError.uncleanShutdown))
    #expect(!CertificateInquiry.concerns(NIOSSLError.handshakeFailed(.sslError([]))))
  }

  @Test(
    "when the URL has no host, or nothing listens there, then there is no reason, and the first error stands",
    arguments: ["", "https://", "not a url", "https://127.0.0.1:1/x", "https://[::1]:1/x"])
  func noServer(url: String) async {
    #expect(await CertificateInquiry(url: url, interface: nil, tls: nil).reason() == nil)
  }

  @Test("when the server closes without a certificate, then there is no reason, and the first error stands")
  func closes() async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { $0.close() }
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    #expect(await CertificateInquiry(url: "https://127.0.0.1:\(port)/", interface: nil, tls: nil).reason() == nil)
    try await server.close()
  }
}

import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import ControlServer

/// The inquiry into a certificate that is not trusted. ClientSlowTests has the tests with certificates.
struct CertificateInquiryTests {
  @Test("when an error is not about a certificate, then no inquiry starts")
  func otherErrors() {
    #expect(!CertificateInquiry.concerns(ChannelError.eof))
    #expect(!CertificateInquiry.concerns(NIOSSLError.uncleanShutdown))
    #expect(!CertificateInquiry.concerns(NIOSSLError.handshakeFailed(.sslError([]))))
  }

  @Test(
    "when the URL has no host, or the port is closed, then the inquiry finds no reason",
    arguments: ["", "https://", "not a url", "https://127.0.0.1:1/x", "https://[::1]:1/x"])
  func noServer(url: String) async {
    #expect(await CertificateInquiry(url: url, interface: nil, tls: nil).reason() == nil)
  }

  @Test("when the server closes without a certificate, then the inquiry finds no reason")
  func closes() async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { $0.close() }
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    #expect(await CertificateInquiry(url: "https://127.0.0.1:\(port)/", interface: nil, tls: nil).reason() == nil)
    try await server.close()
  }
}

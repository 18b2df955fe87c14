import Coverage
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// Finds out why a server's certificate is not trusted. BoringSSL's error is the same for an expired certificate and for an unknown
/// authority, so this connects once more to look at the certificate; it sends no request.
struct CertificateInquiry: Sendable {
  let url: String
  /// `nil`: any interface.
  let interface: String?
  let tls: TLSConfiguration?

  private static let limit = TimeAmount.seconds(5)

  /// Whether `error` is a certificate that is not trusted.
  static func concerns(_ error: any Error) -> Bool {
    guard case .handshakeFailed = error as? NIOSSLError else { return false }
    return "\(error)".contains("CERTIFICATE_VERIFY_FAILED")
  }

  /// - Returns: The reason in one line; `nil` when the certificate cannot be read.
  func reason(now: Date = Date()) async -> String? {
    guard let chain = try? await chain(), let first = chain.first else { return nil }
    if let expired = chain.first(where: { Self.date($0.notValidAfter) < now }) {
      let which = expired == first ? "its certificate" : "the certificate of an intermediate authority"
      return
        "\(which) expired on \(Self.text(expired.notValidAfter)); this host's clock says \(Self.text(time_t(now.timeIntervalSince1970)))"
    }
    if Self.date(first.notValidBefore) > now {
      return
        "its certificate is not valid before \(Self.text(first.notValidBefore)); this host's clock says \(Self.text(time_t(now.timeIntervalSince1970)))"
    }
    return "its certificate is not trusted: neither the system nor control-server.ca-file knows the authority that "
      + "issued it"
  }

  /// The certificates that the server presents, its own first.
  private func chain() async throws -> [NIOSSLCertificate] {
    guard let address = URLComponents(string: url), let host = address.host else { throw URLError(.badURL) }
    let name = host.trimmingCharacters(in: ["[", "]"])
    let context = try NIOSSLContext(configuration: tls ?? .makeClientConfiguration())
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let shown = loop.makePromise(of: [NIOSSLCertificate].self)
    let timer = loop.scheduleTask(in: Self.limit) { shown.fail(ChannelError.connectTimeout(Self.limit)) }
    defer { timer.cancel() }
    let isAddress = (try? SocketAddress(ipAddress: name, port: 0)) != nil
    let connecting: EventLoopFuture<any Channel> = ClientBootstrap(group: loop).connectTimeout(Self.limit)
      .channelInitializer { channel in
        let ready = channel.eventLoop.makeCompletedFuture {
          channel.closeFuture.whenComplete { _ in shown.fail(ChannelError.eof) }
          let handler = try NIOSSLClientHandler(
            context: context, serverHostname: isAddress ? nil : name,
            customVerificationCallback: {
              (chain: [NIOSSLCertificate], verdict: EventLoopPromise<NIOSSLVerificationResult>) in
              shown.succeed(chain)
              verdict.succeed(.failed)
            })
          try channel.pipeline.syncOperations.addHandler(handler)
        }
        return ready.flatMap { BoundRequest.bind(channel, to: interface) }
      }
      .connect(host: name, port: address.port ?? 443)
    connecting.whenFailure { shown.fail($0) }
    let chain = try await shown.futureResult.get()
    connecting.whenSuccess { channel in channel.close(promise: nil) }
    return chain
  }

  private static func date(_ time: time_t) -> Date { Date(timeIntervalSince1970: Double(time)) }

  private static func text(_ time: time_t) -> String {
    WallTime(microseconds: Int64(time).multipliedReportingOverflow(by: 1_000_000).partialValue).iso8601Seconds
  }
}

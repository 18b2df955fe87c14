import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One HTTP request that leaves by a given interface and a given version of the internet protocol, or fails.
///
/// The control server issues a ping token for the source address of the request for a test, so this request has to leave like the pings.
/// AsyncHTTPClient can neither bind a connection to an interface nor resolve a name to one family only. Remove this type once it can.
struct BoundRequest: Sendable {
  /// A connection cannot be bound to an interface.
  struct InterfaceError: Error, CustomStringConvertible {
    let interface: String
    /// errno.
    let code: CInt

    var description: String { "cannot use interface \(interface): \(String(cString: strerror(code)))" }
  }

  /// The control server has no address of the required family.
  struct FamilyError: Error, CustomStringConvertible {
    let host: String
    let family: AddressFamily

    var description: String { "\(host) has no \(family) address, and pings.ip-version is \(family.rawValue)" }
  }

  /// `nil`: any interface.
  let interface: String?
  /// `nil`: either version.
  let family: AddressFamily?
  let url: String
  let headers: HTTPHeaders
  let body: ByteBuffer
  /// `nil` for the system's roots.
  let tls: TLSConfiguration?

  struct Response: Sendable {
    let status: Int
    let headers: HTTPHeaders
    let body: Data
  }

  /// In bytes.
  private static let longestAnswer = 4 << 20

  /// - Parameter limit: The time limit for the whole exchange, from resolving the name to the end of the answer.
  /// - Throws: ``InterfaceError``, ``FamilyError``, and errors of NIO, NIOSSL and Foundation.
  func post(within limit: Duration) async throws -> Response {
    try await withThrowingTaskGroup { group in
      group.addTask { try await exchange(within: limit) }
      group.addTask {
        try await Task.sleep(for: limit)
        throw ChannelError.connectTimeout(.nanoseconds(0))
      }
      defer { group.cancelAll() }
      guard let response = try await group.next() else { throw CancellationError() }
      return response
    }
  }

  private func exchange(within limit: Duration) async throws -> Response {
    guard let address = URLComponents(string: url), let host = address.host else { throw URLError(.badURL) }
    let isSecure = address.scheme == "https"
    let name = host.trimmingCharacters(in: ["[", "]"])
    let connection = try await connect(
      to: name, port: address.port ?? (isSecure ? 443 : 80), secureName: isSecure ? name : nil, within: limit)
    return try await connection.executeThenClose { inbound, outbound in
      var headers = headers
      headers.replaceOrAdd(name: "Host", value: host + (address.port.map { ":\($0)" } ?? ""))
      headers.replaceOrAdd(name: "Content-Length", value: String(body.readableBytes))
      headers.replaceOrAdd(name: "Connection", value: "close")
      do {
        try await outbound.write(
          .head(HTTPRequestHead(version: .http1_1, method: .POST, uri: address.percentEncodedPath, headers: headers)))
        try await outbound.write(.body(.byteBuffer(body)))
        try await outbound.write(.end(nil))
      } catch {
        // The inbound stream throws the cause, such as a certificate that is not trusted; the outbound error does not name it.
        for try await _ in inbound {}
        throw error
      }
      for try await response in inbound {
        return Response(
          status: Int(response.head.status.code), headers: response.head.headers,
          body: response.body.map { Data(buffer: $0) } ?? Data())
      }
      throw ChannelError.eof
    }
  }

  private func connect(
    to name: String, port: Int, secureName: String?, within limit: Duration
  ) async throws -> Connection {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    do {
      return try await ClientBootstrap(group: loop)
        .connectTimeout(.nanoseconds(limit.inNanoseconds))
        .resolver(family.map { FamilyResolver($0, on: loop) })
        .channelInitializer { Self.bind($0, to: interface) }
        .connect(host: name, port: port) { channel in
          channel.eventLoop.makeCompletedFuture { try wrap(channel, secureName) }
        }
    } catch let error as NIOConnectionError {
      guard let family, error.connectionErrors.isEmpty else { throw error }
      throw FamilyError(host: name, family: family)
    }
  }

  private typealias Connection = NIOAsyncChannel<NIOHTTPClientResponseFull, HTTPClientRequestPart>

  private func wrap(_ channel: any Channel, _ secureName: String?) throws -> Connection {
    let pipeline = channel.pipeline.syncOperations
    if let secureName {
      let context = try NIOSSLContext(configuration: tls ?? .makeClientConfiguration())
      // The server hostname (SNI, and the name in the certificate) must not be an IP address.
      let isAddress = (try? SocketAddress(ipAddress: secureName, port: 0)) != nil
      try pipeline.addHandler(try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : secureName))
    }
    try pipeline.addHTTPClientHandlers()
    try pipeline.addHandler(NIOHTTPClientResponseAggregator(maxContentLength: Self.longestAnswer))
    return try Connection(wrappingChannelSynchronously: channel)
  }

  /// Binds `channel`, which is not yet connected, to `interface`. Fails with ``InterfaceError``.
  static func bind(_ channel: any Channel, to interface: String?) -> EventLoopFuture<Void> {
    guard let interface else { return channel.eventLoop.makeSucceededVoidFuture() }
    var name = InterfaceName()
    let bytes = Array(interface.utf8)
    guard let options = channel as? any SocketOptionProvider, bytes.count < MemoryLayout.size(ofValue: name) else {
      return channel.eventLoop.makeFailedFuture(InterfaceError(interface: interface, code: ENODEV))
    }
    withUnsafeMutableBytes(of: &name) { $0.copyBytes(from: bytes) }
    return options.unsafeSetSocketOption(level: .socket, name: .init(rawValue: SO_BINDTODEVICE), value: name)
      .flatMapErrorThrowing { error in
        throw InterfaceError(interface: interface, code: (error as? IOError)?.errnoCode ?? ENODEV)
      }
  }

  /// `IFNAMSIZ` bytes; the last one is zero.
  private struct InterfaceName {
    var first: UInt64 = 0
    var second: UInt64 = 0
  }
}

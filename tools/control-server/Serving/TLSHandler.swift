import CLibssl
import HummingbirdCore
import Logging
import NIOCore

/// The server's certificate.
final class TLSContext: @unchecked Sendable {
  fileprivate let pointer: OpaquePointer?

  /// `nil`: a file cannot be read, or the key is not the certificate's.
  /// - Parameters:
  ///   - certificate: A PEM file with the chain.
  ///   - key: A PEM file.
  init?(certificate: String, key: String) {
    pointer = SSL_CTX_new(TLS_server_method())
    // A key with a passphrase is refused: a server has no terminal to ask on.
    SSL_CTX_set_default_passwd_cb(pointer) { _, _, _, _ in 0 }
    guard SSL_CTX_use_certificate_chain_file(pointer, certificate) == 1,
      SSL_CTX_use_PrivateKey_file(pointer, key, SSL_FILETYPE_PEM) == 1
    else { return nil }
  }

  deinit { SSL_CTX_free(pointer) }
}

/// TLS in a channel's pipeline, by OpenSSL: NIO's own brings BoringSSL, 283 files for each build.
final class TLSHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let ssl: OpaquePointer?
  /// OpenSSL reads records from the one and writes them to the other; the handler moves them.
  private let (received, ready) = (BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))

  init(_ context: TLSContext) {
    ssl = SSL_new(context.pointer)
    SSL_set_bio(ssl, received, ready)
    SSL_set_accept_state(ssl)
  }

  deinit { SSL_free(ssl) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    unwrapInboundIn(data).withUnsafeReadableBytes { _ = BIO_write(received, $0.baseAddress, Int32($0.count)) }
    var code: Int32 = 1
    // A read takes part in the handshake too.
    while code > 0 {
      var plain = context.channel.allocator.buffer(capacity: 16_384)
      ERR_clear_error()
      plain.writeWithUnsafeMutableBytes(minimumWritableBytes: 16_384) { room in
        code = SSL_read(ssl, room.baseAddress, Int32(room.count))
        return max(0, Int(code))
      }
      if code > 0 { context.fireChannelRead(wrapInboundOut(plain)) }
    }
    let error = SSL_get_error(ssl, code)
    send(context)
    context.flush()
    if error == cssl_is_closed() {
      // The peer sends no more, and may wait for the answer.
      context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    } else if error != cssl_wants_read() {
      context.close(promise: nil)
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let bytes = unwrapOutboundIn(data)
    // Memory takes all of it at once.
    if bytes.readableBytes > 0 { bytes.withUnsafeReadableBytes { _ = SSL_write(ssl, $0.baseAddress, Int32($0.count)) } }
    send(context, promise)
  }

  /// Hands the channel what OpenSSL has for the peer.
  private func send(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>? = nil) {
    let size = BIO_ctrl_pending(ready)
    var records = context.channel.allocator.buffer(capacity: size)
    records.writeWithUnsafeMutableBytes(minimumWritableBytes: size) {
      max(0, Int(BIO_read(ready, $0.baseAddress, Int32(size))))
    }
    if size > 0 || promise != nil { context.write(wrapOutboundOut(records), promise: promise) }
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode != .input, SSL_is_init_finished(ssl) == 1 {
      SSL_shutdown(ssl)
      send(context)
      context.flush()
    }
    context.close(mode: mode, promise: promise)
  }
}

@available(*, unavailable)
extension TLSHandler: Sendable {}

/// HTTP in TLS.
struct TLSChannel: ServerChildChannel {
  let base: HTTP1Channel
  let context: TLSContext

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
    channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.addHandler(TLSHandler(context))
    }.flatMap { base.setup(channel: channel, logger: logger) }
  }

  func handle(value: HTTP1Channel.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

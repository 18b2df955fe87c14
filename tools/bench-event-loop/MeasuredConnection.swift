import NIOCore

/// One connection to a native measurement server as a handler of an event loop: token, download, upload, each read counted and each chunk's
/// flag examined, as the threads of the speed test do.
final class MeasuredConnection: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum Stage {
    case opening, ready, downloading, ending, beginningUpload, uploading, done
  }

  private let token: String
  private let seconds: Int
  private let size: Int
  private let chunk: ByteBuffer
  private var stage = Stage.opening
  private var line = ""
  private var bytes = 0
  private var uploadEnd = NIODeadline.now()
  private var phase: EventLoopPromise<Int>?

  /// - Parameter chunk: A chunk of random bytes that ends nothing.
  init(token: String, seconds: Int, chunk: ByteBuffer, ready: EventLoopPromise<Int>) {
    (self.token, self.seconds, self.chunk, size) = (token, seconds, chunk, chunk.readableBytes)
    phase = ready
  }

  // MARK: Commands

  /// Call on the connection's loop. The promise gets the bytes.
  func download(_ channel: any Channel, _ promise: EventLoopPromise<Int>) {
    (stage, bytes, phase) = (.downloading, 0, promise)
    send("GETTIME \(seconds) \(size)\n", channel)
  }

  /// The same for the upload.
  func upload(_ channel: any Channel, _ promise: EventLoopPromise<Int>) {
    (stage, bytes, phase) = (.beginningUpload, 0, promise)
    send("PUT \(size)\n", channel)
  }

  private func send(_ text: String, _ channel: any Channel) {
    channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
  }

  // MARK: Events

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    if stage == .downloading {
      guard endsDownload(buffer) else { return }
      stage = .ending
      send("OK\n", context.channel)
      return
    }
    line += buffer.readString(length: buffer.readableBytes) ?? ""
    while let end = line.firstIndex(of: "\n") {
      let text = String(line[..<end])
      line.removeSubrange(...end)
      handle(text, context)
    }
  }

  /// Counts the bytes; true when the last flag among them ends the stream.
  private func endsDownload(_ buffer: ByteBuffer) -> Bool {
    let count = buffer.readableBytes
    let missing = size - bytes % size
    bytes += count
    guard missing <= count else { return false }
    let last = missing + (count - missing) / size * size - 1
    return buffer.getInteger(at: buffer.readerIndex + last, as: UInt8.self) == 0xFF
  }

  private func handle(_ line: String, _ context: ChannelHandlerContext) {
    switch (stage, line.prefix { $0 != " " }) {
    case (.opening, "ACCEPT") where line.contains("TOKEN"): send("TOKEN \(token)\n", context.channel)
    case (.opening, "ACCEPT"), (.ending, "ACCEPT"), (.done, "ACCEPT"):
      stage = .ready
      phase?.succeed(bytes)
      phase = nil
    case (.beginningUpload, "OK"):
      stage = .uploading
      uploadEnd = .now() + .seconds(Int64(seconds))
      write(context)
    case (_, "ERR"): context.fireErrorCaught(BenchError(description: "the server refused a command"))
    default: break
    }
  }

  private func write(_ context: ChannelHandlerContext) {
    while stage == .uploading, context.channel.isWritable {
      bytes += size
      if NIODeadline.now() >= uploadEnd {
        var last = chunk
        last.setInteger(UInt8(0xFF), at: last.writerIndex - 1)
        stage = .done
        context.writeAndFlush(wrapOutboundOut(last), promise: nil)
      } else {
        context.writeAndFlush(wrapOutboundOut(chunk), promise: nil)
      }
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) { write(context) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    phase?.fail(error)
    phase = nil
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    phase?.fail(BenchError(description: "the server closed the connection"))
    phase = nil
  }
}

import Coverage
import NIOCore
import NIOPosix

import func Glibc.strerror

/// What reaches the client from outside: the network's doings, marked with the connection that they belong to, or the alarm.
enum SocketInput: Sendable {
  case connected(connection: Int, any Channel)
  case failed(connection: Int, String)
  case bytes(connection: Int, [UInt8])
  case ended(connection: Int, String?)
  case alarm(at: ContinuousClock.Instant)
}

/// The client's socket and alarm clock; nothing is decided here. One connection at a time, each with its own number, so that
/// what an old one still says is not taken for the new one's. Bytes come in only as fast as they are asked for.
struct GPSDSocket {
  private let host: String
  private let port: Int
  private let timings: Timings
  private let loop: any EventLoop
  private let mailbox: AsyncStream<SocketInput>.Continuation
  private var connection = 0
  private var channel: (any Channel)?
  private var armed: (deadline: ContinuousClock.Instant, task: Scheduled<Void>)?

  /// The longest wait for an alarm: the clock of the loop stands still while the host is suspended.
  private static let longestAlarm: Duration = .seconds(1)

  /// - Parameter loop: Whose thread reads from the socket.
  init(
    host: String, port: Int, timings: Timings, loop: any EventLoop, mailbox: AsyncStream<SocketInput>.Continuation
  ) {
    self.host = host
    self.port = port
    self.timings = timings
    self.loop = loop
    self.mailbox = mailbox
  }

  // MARK: - Input

  /// Whether `input` is the present connection's, or the alarm. A connection that comes too late is closed.
  func isCurrent(_ input: SocketInput) -> Bool {
    switch input {
    case .connected(connection, _), .failed(connection, _), .bytes(connection, _), .ended(connection, _): return true
    case .alarm: return true
    case .connected(_, let late):
      late.close(promise: nil)
      return false
    case .failed, .bytes, .ended: return false
    }
  }

  /// Notes what `input` changes here, and gives it on as the conversation understands it.
  mutating func admit(_ input: SocketInput) -> Conversation.Input {
    switch input {
    case .connected(_, let channel):
      self.channel = channel
      return .connected
    case .failed(_, let reason): return .connectionFailed(reason)
    case .bytes(_, let bytes): return .bytes(bytes)
    case .ended(_, let error):
      channel = nil
      return .ended(error)
    case .alarm(let deadline):
      if armed?.deadline == deadline { armed = nil }
      return .tick
    }
  }

  // MARK: - Effects

  /// Tries the host's addresses of both families; the outcome comes as an input.
  mutating func connect() {
    connection += 1
    let (number, mailbox, place) = (connection, mailbox, "\(host):\(port)")
    ClientBootstrap(group: loop)
      .connectTimeout(TimeAmount(timings.connection))
      .channelOption(.autoRead, value: false)
      .connect(host: host, port: port)
      .whenComplete { result in
        switch result {
        case .success(let channel):
          channel.eventLoop.execute { Self.join(channel, number, to: mailbox) }
        case .failure(let error):
          mailbox.yield(.failed(connection: number, "cannot connect to \(place): \(describe(error))"))
        }
      }
  }

  /// The handler comes in only now, so that an address that lost the race to another has nothing to say, and the end of a
  /// connection never overtakes its beginning.
  private static func join(
    _ channel: any Channel, _ number: Int, to mailbox: AsyncStream<SocketInput>.Continuation
  ) {
    let handler = Forwarder(connection: number, mailbox: mailbox)
    // After cancellation nobody is left to close it.
    if case .terminated = mailbox.yield(.connected(connection: number, channel)) { channel.close(promise: nil) }
    do { try channel.pipeline.syncOperations.addHandler(handler) } catch {
      mailbox.yield(.ended(connection: number, nil))
      return
    }
    if !channel.isActive { mailbox.yield(.ended(connection: number, nil)) }
  }

  /// One write, one segment: the command is far shorter than any buffer.
  func send(_ command: String) {
    guard let channel else { return }
    channel.writeAndFlush(channel.allocator.buffer(string: command), promise: nil)
  }

  func readMore() {
    channel?.read()
  }

  mutating func disconnect() {
    connection += 1
    channel?.close(promise: nil)
    channel = nil
  }

  /// Sees to it that an alarm comes at `deadline` or before; one that comes too early only costs a look at the clock.
  mutating func alarm(at deadline: ContinuousClock.Instant) {
    let now = ContinuousClock.now
    let deadline = min(deadline, now + Self.longestAlarm)
    if let armed, armed.deadline <= deadline { return }
    armed?.task.cancel()
    let task = loop.scheduleTask(in: TimeAmount(deadline - now)) { [mailbox] in
      _ = mailbox.yield(.alarm(at: deadline))
    }
    armed = (deadline, task)
  }

  /// The end: returns when the connection is closed.
  mutating func close() async {
    armed?.task.cancel()
    armed = nil
    let last = channel
    disconnect()
    try? await last?.closeFuture.get()
  }
}

/// Passes a channel's bytes and its end on to the mailbox.
private final class Forwarder: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer

  private let connection: Int
  private let mailbox: AsyncStream<SocketInput>.Continuation

  init(connection: Int, mailbox: AsyncStream<SocketInput>.Continuation) {
    self.connection = connection
    self.mailbox = mailbox
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    mailbox.yield(.bytes(connection: connection, Array(unwrapInboundIn(data).readableBytesView)))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    mailbox.yield(.ended(connection: connection, describe(error)))
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    mailbox.yield(.ended(connection: connection, nil))
  }
}

/// An error in the words of the system, where it has some.
private func describe(_ error: any Error) -> String {
  switch error {
  case let error as IOError: String(cString: strerror(error.errnoCode))
  case let error as NIOConnectionError where !error.connectionErrors.isEmpty:
    Set(error.connectionErrors.map { describe($0.error) }).sorted().joined(separator: ", ")
  case is NIOConnectionError: "unknown host"
  case ChannelError.connectTimeout: "no answer"
  default: "\(error)"
  }
}

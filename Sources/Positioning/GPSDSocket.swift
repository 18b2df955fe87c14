import NIOCore
import NIOPosix

import func Glibc.strerror

/// The client's socket and alarm clock, without decisions. There is one connection at a time, each with its own number, so that events of an
/// old connection are recognised. Bytes are read only on demand (``readMore()``).
struct GPSDSocket {
  /// Receives an input on the thread of the socket. `false`: the client has ended.
  typealias Receiver = @Sendable (SocketInput) -> Bool

  /// Passes on a channel's bytes and its end.
  private final class Forwarder: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let connection: Int
    private let receive: Receiver

    init(connection: Int, receive: @escaping Receiver) {
      (self.connection, self.receive) = (connection, receive)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      _ = receive(.bytes(connection: connection, Array(unwrapInboundIn(data).readableBytesView)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      _ = receive(.ended(connection: connection, describe(error)))
      context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      _ = receive(.ended(connection: connection, nil))
    }
  }

  private let host: String
  private let port: Int
  private let timings: Timings
  private let loop: any EventLoop
  private let receive: Receiver
  private var connection = 0
  private var channel: (any Channel)?
  private var armed: (deadline: ContinuousClock.Instant, task: Scheduled<Void>)?

  /// The longest wait for an alarm: the clock of the loop stands still while the host is suspended.
  private static let longestAlarm: Duration = .seconds(1)

  /// - Parameter receive: Called on that thread, also while an effect runs.
  init(host: String, port: Int, timings: Timings, loop: any EventLoop, receive: @escaping Receiver) {
    (self.host, self.port, self.timings, self.loop, self.receive) = (host, port, timings, loop, receive)
  }

  // MARK: - Input

  /// Whether `input` belongs to the present connection, or is the alarm. Closes a connection that comes too late.
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

  /// Applies `input` to the socket, and converts it for the conversation.
  mutating func admit(_ input: SocketInput) -> GPSDConversation.Input {
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

  /// Tries the host's addresses of both families; the result comes as an input.
  mutating func connect() {
    connection += 1
    let (number, receive, place) = (connection, receive, "\(host):\(port)")
    ClientBootstrap(group: loop)
      .connectTimeout(TimeAmount(timings.connection))
      .channelOption(.autoRead, value: false)
      .connect(host: host, port: port)
      .whenComplete { result in
        switch result {
        case .success(let channel):
          channel.eventLoop.execute { Self.join(channel, number, receive) }
        case .failure(let error):
          _ = receive(.failed(connection: number, "cannot connect to \(place): \(describe(error))"))
        }
      }
  }

  /// Adds the handler only now, so that a connection that lost the race to another address sends no input, and the end of a connection never
  /// overtakes its beginning.
  private static func join(_ channel: any Channel, _ number: Int, _ receive: @escaping Receiver) {
    let handler = Forwarder(connection: number, receive: receive)
    // After cancellation no client is left to close the channel.
    if !receive(.connected(connection: number, channel)) { channel.close(promise: nil) }
    do { try channel.pipeline.syncOperations.addHandler(handler) } catch {
      _ = receive(.ended(connection: number, nil))
      return
    }
    if !channel.isActive { _ = receive(.ended(connection: number, nil)) }
  }

  /// Sends the command in one write and one segment: it is far shorter than any buffer.
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

  /// Sets the alarm to `deadline`, unless it is set to an earlier time: an early alarm does no harm.
  mutating func alarm(at deadline: ContinuousClock.Instant) {
    let now = ContinuousClock.now
    let deadline = min(deadline, now + Self.longestAlarm)
    if let armed, armed.deadline <= deadline { return }
    armed?.task.cancel()
    let task = loop.scheduleTask(in: TimeAmount(deadline - now)) { [receive] in
      _ = receive(.alarm(at: deadline))
    }
    armed = (deadline, task)
  }

  /// Ends the socket.
  /// - Returns: Succeeds when the connection is closed; `nil`: there was none.
  mutating func close() -> EventLoopFuture<Void>? {
    armed?.task.cancel()
    armed = nil
    let last = channel
    disconnect()
    return last?.closeFuture
  }
}

/// The system's text of an error, if it has one.
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

import Coverage
import Logging
import NIOCore
import NIOPosix

/// A client of gpsd: connects, stays connected, and turns reports into fixes in host order.
///
///     for await event in GPSD(configuration: configuration, logger: logger).events() { ... }
///
/// The client survives an absent, restarting, silent or faulty gpsd (docs/protocol.md, 4.3). Only cancellation ends it.
public struct GPSD: Sendable {
  let configuration: GPSDConfiguration
  let timings: Timings
  let clock: HostClock
  let logger: Logger

  /// A client with the given configuration; it connects in ``run(_:)`` or ``events()``.
  public init(configuration: GPSDConfiguration, logger: Logger) {
    self.init(configuration: configuration, timings: Timings(), logger: logger)
  }

  init(
    configuration: GPSDConfiguration = GPSDConfiguration(), timings: Timings, clock: HostClock = .system, logger: Logger
  ) {
    self.configuration = configuration
    self.timings = timings
    self.clock = clock
    self.logger = logger
  }

  /// Runs until the task is cancelled. The connection is closed when it returns.
  ///
  /// Calls `deliver` with the events in order, on the thread of the socket. `deliver` has to return at once: nothing is read meanwhile.
  public func run(_ deliver: @escaping @Sendable (PositioningEvent) -> Void) async {
    let (inputs, mailbox) = AsyncStream.makeStream(of: SocketInput.self)
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let socket = GPSDSocket(
      host: configuration.host, port: configuration.port, timings: timings, loop: loop, mailbox: mailbox)
    await withTaskCancellationHandler {
      await Runner(self, on: loop).converse(inputs, over: socket, deliver)
    } onCancel: {
      mailbox.finish()
    }
  }

  /// The same as a stream. Whoever reads too slowly loses the oldest events, so that what is read is fresh.
  /// The client ends with the stream: when the reading task is cancelled or stops reading.
  public func events() -> AsyncStream<PositioningEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: PositioningEvent.self, bufferingPolicy: .bufferingNewest(256))
    let client = Task {
      await run { continuation.yield($0) }
      continuation.finish()
    }
    continuation.onTermination = { _ in client.cancel() }
    return stream
  }
}

extension GPSD {
  /// Runs the conversation on the thread of the socket: passing a line to another thread would cost more than handling it.
  fileprivate actor Runner {
    private let client: GPSD
    private let loop: any EventLoop

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    init(_ client: GPSD, on loop: any EventLoop) { (self.client, self.loop) = (client, loop) }

    func converse(
      _ inputs: AsyncStream<SocketInput>, over socket: sending GPSDSocket, _ deliver: (PositioningEvent) -> Void
    ) async {
      let (clock, logger) = (client.clock, client.logger)
      var socket = socket
      var conversation = Conversation(
        configuration: client.configuration, timings: client.timings, startingAt: clock.now())
      perform(conversation.start(at: clock.now()), over: &socket, deliver)
      socket.alarm(at: conversation.nextDeadline)
      for await input in inputs where socket.isCurrent(input) {
        perform(conversation.step(socket.admit(input), at: clock.now()), over: &socket, deliver)
        socket.readMore()
        socket.alarm(at: conversation.nextDeadline)
      }
      perform(conversation.finish(), over: &socket, deliver)
      if let refusals = conversation.counters.refusals { logger.notice("positions refused: \(refusals)") }
      await socket.close()
    }

    private func perform(
      _ effects: [Conversation.Effect], over socket: inout GPSDSocket, _ deliver: (PositioningEvent) -> Void
    ) {
      for effect in effects {
        switch effect {
        case .connect: socket.connect()
        case .send(let command): socket.send(command)
        case .disconnect: socket.disconnect()
        case .deliver(let event): deliver(event)
        case .log(let status, let leftOut):
          let rest = leftOut > 0 ? " (\(counted(leftOut, "line")) like this left out)" : ""
          client.logger.log(level: status.logLevel, "\(status)\(rest)")
        }
      }
    }
  }
}

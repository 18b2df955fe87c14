import Coverage
import Logging
import NIOCore
import NIOPosix

/// A client of gpsd: connects, stays connected, and turns reports into fixes in host order.
///
///     for await event in GPSD(configuration: configuration, logger: logger).events() { ... }
///
/// gpsd may be absent, restart, fall silent or lie; none of that ends the client (spec/gpsd.md 3). Only cancellation does.
public struct GPSD: Sendable {
  /// Where gpsd is and what to take from it.
  public struct Configuration: Hashable, Sendable {
    /// A host name or address; all its addresses of both families are tried.
    public var host: String
    /// TCP port, 1 to 65535.
    public var port: Int
    /// The receiver to listen to, as gpsd names it; `nil`: the first one with a fix, until it goes stale.
    public var device: String?
    /// Without a usable position for this long, or two cycles of the receiver if that is longer, the position is lost.
    public var staleAfter: Duration
    /// See ``JumpFilter``; metres a second, above 0; `nil`: every position counts.
    public var maximumSpeed: Double?
    /// A speed above this, in metres a second, is left out of its fix: gpsd makes speeds out of jumps. `nil`: every speed counts.
    public var speedLimit: Double?

    public init(
      host: String = "127.0.0.1", port: Int = 2947, device: String? = nil, staleAfter: Duration = .seconds(5),
      maximumSpeed: Double? = nil, speedLimit: Double? = nil
    ) {
      self.host = host
      self.port = port
      self.device = device
      self.staleAfter = staleAfter
      self.maximumSpeed = maximumSpeed
      self.speedLimit = speedLimit
    }

    /// Whether the server is on this host, by its name or address.
    var isLocal: Bool {
      let name = host.lowercased()
      let isFourParts = name.split(separator: ".", omittingEmptySubsequences: false).count == 4
      return (name.hasPrefix("127.") && isFourParts)
        || ["localhost", "::1", "[::1]", "::ffff:127.0.0.1"].contains(name)
    }
  }

  let configuration: Configuration
  let timings: Timings
  let clock: HostClock
  let logger: Logger

  public init(
    configuration: Configuration = Configuration(), timings: Timings = Timings(), clock: HostClock = .system,
    logger: Logger
  ) {
    self.configuration = configuration
    self.timings = timings
    self.clock = clock
    self.logger = logger
  }

  /// Runs until the task is cancelled; the connection is closed when it returns.
  ///
  /// `deliver` is called in order, on the thread of the socket, and has to return at once: while it works nothing is read.
  public func run(_ deliver: @escaping @Sendable (PositioningEvent) -> Void) async {
    let (inputs, mailbox) = AsyncStream.makeStream(of: SocketInput.self)
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let socket = GPSDSocket(
      host: configuration.host, port: configuration.port, timings: timings, loop: loop, mailbox: mailbox)
    await withTaskCancellationHandler {
      await Talk(self, on: loop).converse(inputs, over: socket, deliver)
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

/// Runs the conversation on the thread of the socket: each hand-over from there to another thread would cost more than all that is done
/// with a line.
private actor Talk {
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
        let rest = leftOut > 0 ? " (\(leftOut) \(leftOut == 1 ? "line" : "lines") like this left out)" : ""
        client.logger.log(level: status.logLevel, "\(status)\(rest)")
      }
    }
  }
}

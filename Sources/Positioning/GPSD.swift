import Coverage
import Glibc
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
    (self.configuration, self.timings, self.clock, self.logger) = (configuration, timings, clock, logger)
  }

  /// Runs until the task is cancelled. The connection is closed when it returns.
  ///
  /// Calls `deliver` with the events in order, on the thread of the socket. `deliver` has to return at once: nothing is read meanwhile.
  public func run(_ deliver: @escaping @Sendable (PositioningEvent) -> Void) async {
    let runner = Runner(self, on: MultiThreadedEventLoopGroup.singleton.next(), deliver)
    await withTaskCancellationHandler {
      await runner.run()
    } onCancel: {
      runner.cancel()
    }
  }

  /// The same as a stream. If the reader falls behind, the oldest events are dropped.
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
  /// Runs the conversation on the thread of the socket, which calls it directly: passing an input to another thread would cost more than
  /// handling it.
  fileprivate actor Runner {
    private let client: GPSD
    private let loop: any EventLoop
    private let deliver: @Sendable (PositioningEvent) -> Void
    private var conversation: GPSDConversation
    private lazy var socket = GPSDSocket(
      host: client.configuration.host, port: client.configuration.port, timings: client.timings, loop: loop
    ) { [weak self] input in self?.assumeIsolated { $0.receive(input) } ?? false }
    /// Inputs that came while an earlier one was handled: closing a connection is an input at once.
    private var inputs: [SocketInput] = []
    private var isHandling = false
    private var isCancelled = false
    private var waiting: CheckedContinuation<Void, Never>?

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    init(_ client: GPSD, on loop: any EventLoop, _ deliver: @escaping @Sendable (PositioningEvent) -> Void) {
      (self.client, self.loop, self.deliver) = (client, loop, deliver)
      conversation = GPSDConversation(
        configuration: client.configuration, timings: client.timings, startingAt: client.clock.now())
    }

    func run() async {
      perform(conversation.start(at: client.clock.now()))
      socket.alarm(at: conversation.nextDeadline)
      if !isCancelled { await withCheckedContinuation { waiting = $0 } }
      perform(conversation.finish())
      if let refusals = conversation.counters.refusals { client.logger.notice("positions refused: \(refusals)") }
      // The future of a close does not fail.
      try? await socket.close()?.get()
    }

    nonisolated func cancel() {
      loop.execute { self.assumeIsolated { $0.end() } }
    }

    private func end() {
      isCancelled = true
      waiting?.resume()
      waiting = nil
    }

    /// - Returns: `false` after the end.
    private func receive(_ input: SocketInput) -> Bool {
      guard !isCancelled else { return false }
      inputs.append(input)
      guard !isHandling else { return true }
      isHandling = true
      while !inputs.isEmpty { handle(inputs.removeFirst()) }
      isHandling = false
      return true
    }

    private func handle(_ input: SocketInput) {
      guard socket.isCurrent(input) else { return }
      perform(conversation.step(socket.admit(input), at: client.clock.now()))
      socket.readMore()
      socket.alarm(at: conversation.nextDeadline)
    }

    private func perform(_ effects: [GPSDConversation.Effect]) {
      for effect in effects {
        switch effect {
        case .connect: socket.connect()
        case .send(let command): socket.send(command)
        case .disconnect: socket.disconnect()
        case .deliver(let event): deliver(event)
        case .log(let status, let leftOut):
          let rest = leftOut > 0 ? " (\(counted(leftOut, "line")) like this left out)" : ""
          client.logger.log(
            level: status.logLevel, "\(status)\(rest)",
            metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.receiver)])
        }
      }
    }
  }
}

/// The source of the client's time; tests pass their own.
struct HostClock: Sendable {
  let now: @Sendable () -> HostTime

  static let system = HostClock {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    return HostTime(instant: .now, wall: WallTime(microseconds: microseconds))
  }
}

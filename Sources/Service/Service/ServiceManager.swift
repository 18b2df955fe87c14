import Coverage
import Driving
import Foundation
import Logging

/// The service manager that started the service, e.g. systemd. Without one, everything here is silent.
struct ServiceManager: Sendable {
  private let socket: NotifySocket?
  private var messages: ManagerMessages
  /// The value of errno(3) of the last failure: each one is logged once.
  private var trouble: CInt?
  /// The part that made no progress at the last report: a stall is logged once.
  private var stall: String?
  private let logger: Logger

  /// - Parameter environment: Names the manager's socket and its watchdog (sd_notify(3), sd_watchdog_enabled(3)).
  init(environment: [String: String], senderPatience: Duration, logger: Logger) {
    socket = NotifySocket(environment: environment)
    messages = ManagerMessages(
      watchdog: ManagerMessages.watchdog(environment: environment, process: getpid()), senderPatience: senderPatience)
    self.logger = logger
  }

  /// Sends the messages that ``ManagerMessages`` has for this state, and logs a part that makes no progress.
  mutating func report(_ state: ManagerMessages.State) {
    guard socket != nil else { return }
    send(messages.next(state, at: .now))
    if messages.stall != stall, let part = messages.stall {
      logger.error(
        "\(part) makes no progress; the service manager restarts this service unless it goes on",
        metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.noProgress)])
    }
    stall = messages.stall
  }

  /// The configuration is read again from now until the next ``report(_:)``.
  mutating func reloading() {
    send(messages.reloading(at: UInt64(clamping: HostBoot.awake.inMicroseconds)))
  }

  /// Sends without waiting. After a failure, the next report says everything again.
  private mutating func send(_ assignments: [String]) {
    guard let socket, !assignments.isEmpty else { return }
    let code = socket.send(assignments)
    if let code {
      messages.lost()
      if code != trouble {
        logger.warning(
          "the service manager cannot be notified: \(String(cString: strerror(code))); trying again each second")
      }
    }
    trouble = code
  }
}

/// The socket on which the service manager (systemd) receives the state of the service: sd_notify(3), without libsystemd.
struct NotifySocket: Sendable {
  /// The path, or a NUL and an abstract name.
  private let name: [UInt8]

  /// - Parameter environment: Names the socket in `NOTIFY_SOCKET`.
  /// - Returns: `nil` without a service manager, or when its socket is no unix socket.
  init?(environment: [String: String]) {
    guard let text = environment["NOTIFY_SOCKET"], text.hasPrefix("/") || text.hasPrefix("@"), text.utf8.count > 1,
      text.utf8.count <= UnixDatagram.longestName
    else { return nil }
    name = text.hasPrefix("@") ? [0] + text.utf8.dropFirst() : Array(text.utf8)
  }

  /// Sends one datagram and does not wait.
  /// - Returns: The value of errno(3) when the manager did not get it.
  func send(_ assignments: [String]) -> CInt? {
    UnixDatagram.send(Array(assignments.joined(separator: "\n").utf8), to: name)
  }
}

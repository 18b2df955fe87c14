import Logging
import Pinging

/// The pinger of a drive, with a capture that follows its pings from server to server.
struct CapturedPings {
  private let pinger: Pinger
  private var capture: RunningCapture?
  private let logger: Logger
  /// The target that began last, and its address.
  private var latest: (target: PingTarget.ID, address: PingAddress)?
  /// The flow before the present one; its answers may still arrive.
  private var former: CaptureFlow?

  init(_ pinger: Pinger, capture: RunningCapture?, logger: Logger) {
    (self.pinger, self.capture, self.logger) = (pinger, capture, logger)
  }

  /// Adds `target`, and sends its first ping after the capture follows it.
  /// - Throws: `PingerError`
  mutating func begin(_ target: PingTarget, firstSlot: UInt64? = nil) throws(PingerError) -> PingTarget.ID {
    let id = try pinger.add(target)
    former = flow ?? former
    latest = (id, target.address)
    follow()
    try pinger.begin(id, at: firstSlot)
    return id
  }

  mutating func redirect(_ target: PingTarget.ID, to address: PingAddress) {
    if latest?.target == target { latest?.address = address }
    follow()
    do {
      try pinger.redirect(target, to: address)
    } catch {
      logger.warning("cannot ping \(address): \(error)")
    }
  }

  func stop(_ target: PingTarget.ID) { pinger.stop(target) }

  func remove(_ target: PingTarget.ID) { pinger.remove(target) }

  /// Makes the capture follow the pings: their local port can change when an interface comes back. Must be called
  /// once a second.
  mutating func follow() {
    guard capture != nil else { return }
    let flows = flow.map { [$0] + [former].compactMap { $0 } }
    if let line = capture?.follow(flows) { logger.warning("\(line)") }
  }

  var isCaptureInTrouble: Bool { capture?.isInTrouble == true }

  /// Completes the capture, if there is one.
  mutating func close() -> CaptureSummary? { capture?.close() }

  private var flow: CaptureFlow? {
    guard let latest, let port = pinger.state(of: latest.target)?.localPort else { return nil }
    return CaptureFlow(.udp(localPort: port), host: latest.address.host, port: latest.address.port)
  }
}

import Evidence
import Logging
import Pinging

/// The pinger of a drive, with the capture that follows its pings from server to server.
struct CapturedPings {
  private let pinger: Pinger
  private var capture: RunningCapture?
  private let logger: Logger
  /// The pings that began last, and where they go.
  private var latest: (target: PingTarget.ID, address: PingAddress)?
  /// Where pings went before; answers may be on their way from there.
  private var former: CaptureFlow?

  init(_ pinger: Pinger, capture: RunningCapture?, logger: Logger) {
    (self.pinger, self.capture, self.logger) = (pinger, capture, logger)
  }

  /// Sends the first ping when the capture is ready for it.
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

  /// Keeps the capture at the pings: their local port can change when an interface comes back. To be called once a second.
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

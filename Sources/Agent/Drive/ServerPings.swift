import Evidence
import Logging
import Pinging

/// Where the pings of a drive go. They follow the server's name when it moves to another address, and the capture follows
/// them.
struct ServerPings {
  /// The host as the control server named it, with its address in ``NameWatch``; `nil` before the first test.
  private var server: (host: String, target: PingTarget.ID, watch: NameWatch)?
  /// Where pings went before; answers may be on their way from there.
  private var former: CaptureFlow?
  private var capture: RunningCapture?
  private let pinger: Pinger
  private let logger: Logger
  private let lookUp: (String, PingAddress) -> Void

  /// - Parameter lookUp: Resolves a host as the address was, and answers by ``take(_:for:)``.
  init(
    pinger: Pinger, capture: RunningCapture?, logger: Logger, lookUp: @escaping (_ host: String, PingAddress) -> Void
  ) {
    (self.pinger, self.capture, self.logger, self.lookUp) = (pinger, capture, logger, lookUp)
  }

  /// Sends the first ping when the capture is ready for it.
  /// - Throws: `PingerError`
  mutating func begin(
    _ target: PingTarget, host: String, firstSlot: UInt64? = nil, at now: UInt64 = Pinger.now
  ) throws(PingerError) -> PingTarget.ID {
    let id = try pinger.add(target)
    former = flow ?? former
    server = (host, id, NameWatch(address: target.address, at: now))
    follow()
    try pinger.begin(id, at: firstSlot)
    return id
  }

  mutating func take(_ event: PingEvent, at now: UInt64 = Pinger.now) {
    if event.isSignOfLife { server?.watch.heard(at: now) }
  }

  /// Once a second.
  /// - Parameter isPaused: Silence means nothing, as nothing is sent.
  mutating func tick(isPaused: Bool, at now: UInt64 = Pinger.now) {
    follow()
    if isPaused { server?.watch.heard(at: now) }
    guard let host = server?.host, let address = server?.watch.address,
      PingAddress(numeric: host, port: address.port) == nil, server?.watch.wantsLookUp(at: now) == true
    else { return }
    lookUp(host, address)
  }

  /// The addresses that the host has now; none when that could not be found out.
  mutating func take(_ addresses: [PingAddress], for host: String, at now: UInt64 = Pinger.now) {
    guard let server, server.host == host, let new = self.server?.watch.found(addresses, at: now) else { return }
    logger.notice("\(host) was silent at \(server.watch.address) and is at \(new) now; pinging there")
    follow()
    do {
      try pinger.redirect(server.target, to: new)
    } catch {
      logger.warning("cannot ping \(new): \(error)")
    }
  }

  /// What is wrong with the capture, for the status; `nil` when nothing is.
  var warning: String? { capture?.isInTrouble == true ? "the packet capture is not complete" : nil }

  /// Completes the capture, if there is one.
  mutating func close() -> CaptureSummary? { capture?.close() }

  /// The port of ours can change when an interface comes back; so it is asked for each time.
  private mutating func follow() {
    guard capture != nil else { return }
    let flows = flow.map { [$0] + [former].compactMap { $0 } }
    if let line = capture?.follow(flows) { logger.warning("\(line)") }
  }

  private var flow: CaptureFlow? {
    guard let server, let port = pinger.state(of: server.target)?.localPort else { return nil }
    return CaptureFlow(.udp(localPort: port), host: server.watch.address.host, port: server.watch.address.port)
  }
}

/// Decides when the log says why there is no technology, and when that reason is over. ``ModemManagerClient`` asks it for
/// each new reading.
struct ObstacleLines: Hashable, Sendable {
  /// A line for the log.
  enum Line: Hashable, Sendable {
    /// There is an obstacle; its text.
    case began(String)
    /// The obstacle that the last line named is over.
    case ended
  }

  private var complaints = Complaints()
  /// The obstacle of the last reading, named or not.
  private var last: String?
  /// Whether the log has named an obstacle that is not over.
  private var isNamed = false

  /// The line that belongs to a reading; `nil` for none.
  ///
  /// Only an obstacle that the log has named ends with a line, so that a modem at the edge of a network does not fill the log.
  mutating func line(for obstacle: String?, at now: ContinuousClock.Instant) -> Line? {
    guard obstacle != last else { return nil }
    last = obstacle
    guard let obstacle else {
      defer { isNamed = false }
      return isNamed ? .ended : nil
    }
    guard complaints.isNew(obstacle, at: now) else { return nil }
    isNamed = true
    return .began(obstacle)
  }
}

#if canImport(CSystemd)
  import Coverage
  import Glibc
  import Logging

  /// Follows ModemManager: the shell around ``ModemConversation``. A thread waits for messages of the system bus, passes them
  /// to the conversation, and sends its calls. When the connection ends, it makes another one.
  final class ModemManagerClient: Sendable {
    private let address: String?
    private let options: ModemManagerOptions
    private let logger: Logger
    /// Ends the thread's wait when the task is cancelled.
    private let wake: WakePipe

    /// The wait before the next try when there is no bus, or its connection ended.
    private static let pause: Duration = .seconds(5)

    /// - Parameter address: The address of another bus; `nil`: the host's system bus.
    init(address: String? = nil, _ options: ModemManagerOptions, logger: Logger) {
      (self.address, self.options, self.logger) = (address, options, logger)
      wake = WakePipe()
    }

    /// Delivers the reading now, and every change, until the task is cancelled. Returns after the thread has ended.
    /// - Parameter deliver: Called on the thread of the client.
    func run(_ deliver: @escaping @Sendable (RadioReading) -> Void) async {
      await BusThread.run(until: wake) { [self] in follow(deliver) }
    }

    /// The work of the thread: conversations one after the other, with a pause after each failure.
    private func follow(_ deliver: (RadioReading) -> Void) {
      var last: RadioReading?
      var complaints = Complaints()
      var obstacles = ObstacleLines()
      let event: Logger.Metadata = [OperatorEvent.key: .stringConvertible(OperatorEvent.modem)]
      let level: Logger.Level = options.isRequired ? .warning : .info
      // Before the reading is delivered, the log names its obstacle, or the end of an obstacle.
      func deliverNews(_ reading: RadioReading) {
        guard reading != last else { return }
        switch obstacles.line(for: reading.obstacle, at: .now) {
        case .began(let obstacle)?: logger.log(level: level, "radio.source: \(obstacle)", metadata: event)
        case .ended?: logger.info("radio.source: ModemManager and the modem report again", metadata: event)
        case nil: break
        }
        last = reading
        deliver(reading)
      }
      // Refusals by the bus or by ModemManager, each at most once in ten minutes.
      func note(_ line: String) {
        if complaints.isNew(line, at: .now) { logger.warning("radio.source: \(line)") }
      }
      if !wake.isUsable { note("no file descriptor is left for ModemManager; it is not asked until the next start") }
      while !wake.isAwake {
        do {
          try converse(deliverNews, note)
        } catch {
          if complaints.isNew("bus", at: .now) {
            logger.log(level: level, "radio.source: the system bus cannot be used: \(error)", metadata: event)
          }
          deliverNews(RadioReading(obstacle: options.isRequired ? "there is no system bus (\(error))" : nil))
          wake.wait(at: nil, until: .now + Self.pause)
        }
      }
    }

    /// Talks with ModemManager over one connection. Returns when the task is cancelled.
    /// - Throws: ``BusError`` when the connection ends.
    private func converse(_ deliver: (RadioReading) -> Void, _ note: (String) -> Void) throws(BusError) {
      let bus = try ModemBus(address: address, services: [ModemConversation.service])
      var conversation = ModemConversation(options)
      for call in conversation.connected(at: .now) { try bus.send(call) }
      // No reading before the objects are listed, or ModemManager is known to be absent or hung: until then, a modem that is
      // there would read as "there is no modem".
      var isKnown = false
      while !wake.isAwake {
        while let message = try bus.next() {
          if case .answer(.objects, _) = message { isKnown = true }
          if case .answer(.owner, let values) = message, values.first?.isTrue != true { isKnown = true }
          for call in conversation.handle(message, at: .now) { try bus.send(call) }
        }
        for call in conversation.tick(at: .now) { try bus.send(call) }
        conversation.drainNotes().forEach(note)
        if isKnown || conversation.isHung { deliver(conversation.reading) }
        wake.wait(at: try bus.interest(), until: conversation.nextDeadline)
      }
    }
  }
#endif

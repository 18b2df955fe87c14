#if canImport(CSystemd)
  import Coverage
  import Foundation
  import Glibc
  import Logging

  /// Follows ModemManager: a thread that waits for messages of the system bus.
  final class ModemManagerClient: Sendable {
    private let address: String?
    private let interface: String?
    private let isRequired: Bool
    private let mayConfigure: Bool
    private let logger: Logger
    private let wake: WakePipe

    /// The wait before the next try when there is no bus, or its connection ended.
    private static let pause: Duration = .seconds(5)

    /// - Parameters:
    ///   - address: Of another bus than the host's system bus.
    ///   - isRequired: Whether it is a warning that there is no ModemManager.
    init(address: String? = nil, interface: String?, isRequired: Bool, mayConfigure: Bool, logger: Logger) {
      self.address = address
      (self.interface, self.isRequired, self.mayConfigure, self.logger) = (interface, isRequired, mayConfigure, logger)
      wake = WakePipe()
    }

    /// Delivers the reading now, and every change, until the task is cancelled.
    func run(_ deliver: @escaping @Sendable (RadioReading) -> Void) async {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let thread = Thread { [self] in
            // The kernel gets the name only once the thread runs.
            Thread.current.name = "modem"
            follow(deliver)
            continuation.resume()
          }
          thread.stackSize = 256 << 10
          thread.start()
        }
      } onCancel: {
        wake.wake()
      }
    }

    private func follow(_ deliver: (RadioReading) -> Void) {
      var last: RadioReading?
      var complaints = Complaints()
      var obstacles = ObstacleLines()
      let event: Logger.Metadata = [OperatorEvent.key: .stringConvertible(OperatorEvent.modem)]
      let level: Logger.Level = isRequired ? .warning : .info
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
          deliverNews(RadioReading(obstacle: isRequired ? "there is no system bus (\(error))" : nil))
          wake.wait(at: nil, until: .now + Self.pause)
        }
      }
    }

    /// Returns when the task is cancelled.
    /// - Throws: ``BusError`` when the connection ends.
    private func converse(_ deliver: (RadioReading) -> Void, _ note: (String) -> Void) throws(BusError) {
      let bus = try SystemBus(address: address, services: [ModemConversation.service])
      var conversation = ModemConversation(interface: interface, isRequired: isRequired, mayConfigure: mayConfigure)
      for call in conversation.connected(at: .now) { try bus.send(call) }
      var isKnown = false
      while !wake.isAwake {
        while let message = try bus.next() {
          if case .answer(.objects, _) = message { isKnown = true }
          if case .answer(.owner, let values) = message, values.first?.isTrue != true { isKnown = true }
          for call in conversation.handle(message, at: .now) { try bus.send(call) }
        }
        for call in conversation.tick(at: .now) { try bus.send(call) }
        conversation.drainNotes().forEach(note)
        if isKnown { deliver(conversation.reading) }
        wake.wait(at: try bus.interest(), until: conversation.nextDeadline)
      }
    }
  }
#endif

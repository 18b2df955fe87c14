#if canImport(CSystemd)
  import Logging

  /// Follows logind: a thread that waits for messages of the system bus. Without a bus or logind, the service goes on.
  package final class LogindWatch: Sendable {
    private let address: String?
    private let logger: Logger
    /// Ends the wait of the thread when the task is cancelled.
    private let wake = WakePipe()

    /// The wait before the next try when there is no bus, or its connection ended.
    private static let pause: Duration = .seconds(60)

    /// - Parameter address: Of another bus than the host's system bus.
    package init(address: String? = nil, logger: Logger) { (self.address, self.logger) = (address, logger) }

    /// Delivers each report until the task is cancelled.
    package func run(_ deliver: @escaping @Sendable (SleepNews) -> Void) async {
      await BusThread.run(until: wake) { [self] in follow(deliver) }
    }

    /// Runs on the thread: one conversation for each connection, until the task is cancelled.
    private func follow(_ deliver: (SleepNews) -> Void) {
      // Each line once: a device may have no logind for years.
      var logged: Set<String> = []
      func note(_ line: String) {
        if logged.insert(line).inserted { logger.info("sleep: \(line)") }
      }
      if !wake.isUsable { note("no file descriptor is left; sleep is not delayed until the next start") }
      while !wake.isAwake {
        var conversation = SleepConversation()
        do {
          try converse(&conversation, deliver, note)
        } catch {
          note("the system bus cannot be used: \(error); sleep is not delayed")
        }
        conversation.disconnected()
        conversation.drainNews().forEach(deliver)
        if !wake.isAwake { wake.wait(at: nil, until: .now + Self.pause) }
      }
    }

    /// Returns when the task is cancelled.
    /// - Throws: ``BusError`` when the connection ends.
    private func converse(
      _ conversation: inout SleepConversation, _ deliver: (SleepNews) -> Void, _ note: (String) -> Void
    ) throws(BusError) {
      let bus = try SystemBus<SleepConversation.Purpose>(address: address, services: [SleepConversation.service])
      for call in conversation.connected(at: .now) { try bus.send(call) }
      while !wake.isAwake {
        while let message = try bus.next() {
          for call in conversation.handle(message, at: .now) { try bus.send(call) }
        }
        conversation.tick(at: .now)
        conversation.drainNotes().forEach(note)
        if conversation.delaysSleep { note("logind delays sleep until the drive is on the disk") }
        conversation.drainNews().forEach(deliver)
        wake.wait(at: try bus.interest(), until: conversation.nextDeadline)
      }
    }
  }
#endif

#if canImport(CSystemd)
  import Coverage
  import Foundation
  import TestSupport
  import Testing

  @testable import SystemServices

  /// The client of ModemManager on a real message bus.
  struct ModemManagerClientTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("when a bus has no ModemManager, then the reading says so at once, and the client ends with its task")
    func client() async throws {
      let daemon = try await PrivateBus(in: folder)
      let log = LogLines()
      let (readings, continuation) = AsyncStream<RadioReading>.makeStream()
      let client = ModemManagerClient(
        address: daemon.address, ModemManagerOptions(), logger: log.logger)
      let running = Task { await client.run { continuation.yield($0) } }
      var iterator = readings.makeAsyncIterator()
      #expect(await iterator.next() == RadioReading(obstacle: "ModemManager is not running"))
      try await daemon.program.stop()
      let last = await iterator.next()
      #expect(last?.obstacle?.hasPrefix("there is no system bus (") == true, "\(String(describing: last))")
      running.cancel()
      await running.value
      #expect(log.messages.first == "radio.source: ModemManager is not running")
      #expect(log.metadata(OperatorEvent.key, ofLinesWith: "ModemManager is not running") == ["modem"])
    }
  }
#endif

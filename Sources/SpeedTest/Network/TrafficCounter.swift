import Coverage
import Synchronization

/// Counts the bytes of a test: those of its connections without the bytes that TLS adds, and its datagrams. All threads of a test
/// add to one counter, and its sums can be read at any time.
final class TrafficCounter: Sendable {
  private let received = Atomic<Int64>(0)
  private let sent = Atomic<Int64>(0)

  func addReceived(_ bytes: Int) { received.wrappingAdd(Int64(bytes), ordering: .relaxed) }

  func addSent(_ bytes: Int) { sent.wrappingAdd(Int64(bytes), ordering: .relaxed) }

  var traffic: SpeedTestTraffic {
    SpeedTestTraffic(received: received.load(ordering: .relaxed), sent: sent.load(ordering: .relaxed))
  }
}

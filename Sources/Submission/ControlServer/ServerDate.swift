import Coverage
import Foundation

/// The `Date` of the server's latest successful answer.
final class ServerDate: Sendable {
  private let lock = NSLock()
  private nonisolated(unsafe) var reading: ServerDateReading?

  /// - Parameters:
  ///   - date: The `Date` of a successful answer: that of a captive portal is not the server's.
  ///   - sent: When the request started.
  func note(_ date: String?, sent: ContinuousClock.Instant) {
    guard let time = date.flatMap(HTTPDate.time) else { return }
    let now = ContinuousClock.now
    lock.withLock { reading = ServerDateReading(date: time, received: now, roundTrip: now - sent) }
  }

  var latest: ServerDateReading? { lock.withLock { reading } }
}

import Coverage
import Foundation

/// The `Date` of an answer of the control server, and when it came.
public struct ServerDateReading: Hashable, Sendable {
  /// In whole seconds, cut off (RFC 9110, 6.6.1).
  public let date: WallTime
  /// When the answer was complete.
  public let received: ContinuousClock.Instant
  /// From the beginning of the request to the answer.
  public let roundTrip: Duration
}

/// The server's own clock, by its latest success.
final class ServerDate: Sendable {
  private let lock = NSLock()
  private nonisolated(unsafe) var reading: ServerDateReading?

  /// - Parameters:
  ///   - date: The `Date` of an answer that was the server's own.
  ///   - sent: When the request began.
  func note(_ date: String?, sent: ContinuousClock.Instant) {
    guard let time = date.flatMap(HTTPDate.time) else { return }
    let now = ContinuousClock.now
    lock.withLock { reading = ServerDateReading(date: time, received: now, roundTrip: now - sent) }
  }

  var latest: ServerDateReading? { lock.withLock { reading } }
}

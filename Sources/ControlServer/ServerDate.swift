import Coverage
import Synchronization

/// The server's own clock, as its last answer told it (`Date`: RFC 9110, 6.6.1).
final class ServerDate: Sendable {
  private static let none = Int64.min
  private let microseconds = Atomic(none)

  /// - Parameter date: The `Date` of an answer that was the server's own.
  func note(_ date: String?) {
    guard let time = date.flatMap(HTTPDate.time) else { return }
    microseconds.store(time.microseconds, ordering: .relaxed)
  }

  func take() -> WallTime? {
    let last = microseconds.exchange(Self.none, ordering: .relaxed)
    return last == Self.none ? nil : WallTime(microseconds: last)
  }
}

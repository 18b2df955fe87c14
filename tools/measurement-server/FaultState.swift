import Foundation

/// The faults of the process, and how many connections met them.
final class FaultState: @unchecked Sendable {
  private let faults: Set<Fault>
  private let lock = NSLock()
  private var accepted = 0
  private var tokens = 0
  /// Bytes a second; `nil`: without limit.
  let rate: Int?
  private let closed: Int
  /// The percentage of UDP packets to drop.
  let udpDrop: Int

  init(_ list: [Fault]) {
    faults = Set(list)
    (rate, closed, udpDrop) = list.reduce(into: (nil, 0, 0)) { values, fault in
      if case .slow(let rate) = fault { values.0 = rate }
      if case .closeFirst(let count) = fault { values.1 = count }
      if case .udpDrop(let percent) = fault { values.2 = percent }
    }
  }

  func has(_ fault: Fault) -> Bool { faults.contains(fault) }

  /// Whether a fresh connection is closed before the greeting.
  func closesConnection() -> Bool {
    lock.withLock {
      accepted += 1
      return accepted <= closed
    }
  }

  /// Whether a connection is closed after its token.
  func dropsAfterToken() -> Bool {
    lock.withLock {
      tokens += 1
      return tokens == 3 && faults.contains(.dropThird)
    }
  }
}

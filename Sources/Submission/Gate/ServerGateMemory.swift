import Coverage
import Foundation
import Logging
import Store

extension ServerGate {
  /// The part of the state that the next process continues with, as JSON. It has no wall time: a device without a
  /// battery-backed clock has none that it can trust.
  struct Memory: Codable, Hashable, Sendable {
    var breaker: CircuitBreaker.Memory
    var retryAfter: Deadline?
    var trouble: Deadline?
    /// Passes in a row that ended in trouble.
    var failures: Int
  }

  /// The end of a wait, in microseconds.
  struct Deadline: Codable, Hashable, Sendable {
    /// The end on CLOCK_BOOTTIME.
    var at: Int64
    /// The rest of the wait when this was written.
    var remaining: Int64

    init?(_ end: Duration?, at now: Duration) {
      guard let end else { return nil }
      at = end.inMicroseconds
      remaining = max(.zero, end - now).inMicroseconds
    }

    /// After a reboot, the rest of the wait counts from the boot. No wait is longer than `longest`: the stored value
    /// may be damaged.
    func end(isSameBoot: Bool, now: Duration, longest: Duration) -> Duration {
      max(.zero, min(.microseconds(isSameBoot ? at : remaining), now + longest))
    }
  }

  func memory(at now: Duration, bootID: String) -> Memory {
    Memory(
      breaker: breaker.memory(at: now, bootID: bootID), retryAfter: Deadline(lasting.quietUntil, at: now),
      trouble: Deadline(lasting.backoff.until, at: now), failures: lasting.backoff.failures)
  }

  init(policy: Policy, memory: Memory, at now: Duration, bootID: String) {
    let isSameBoot = memory.breaker.bootID == bootID
    let longest = max(policy.backoffMax + Backoff.least, Policy.pause)
    self.init(
      policy: policy,
      lasting: Lasting(
        breaker: CircuitBreaker(policy: policy.breaker, memory: memory.breaker, at: now, bootID: bootID),
        backoff: Backoff(
          base: policy.backoff, cap: policy.backoffMax, failures: memory.failures,
          until: memory.trouble?.end(isSameBoot: isSameBoot, now: now, longest: longest)),
        quietUntil: memory.retryAfter?.end(
          isSameBoot: isSameBoot, now: now, longest: ServerFailure.longestWait)))
  }

  /// Reads the gate from the store.
  /// - Throws: `DecodingError` when the stored value is damaged; GRDB's `DatabaseError`.
  public static func stored(
    in reader: StoreReader, server: String, policy: Policy = Policy(), clock: SenderClock
  ) throws -> ServerGate {
    guard let text = try reader.gateMemory(at: server) else { return ServerGate(policy: policy) }
    let memory = try JSONDecoder().decode(Memory.self, from: Data(text.utf8))
    return ServerGate(policy: policy, memory: memory, at: clock.boot(), bootID: clock.bootID)
  }

  /// The stored wait that a commanded request has to keep; `nil` when one may leave.
  /// - Throws: `DecodingError` when the stored value is damaged; GRDB's `DatabaseError`.
  public static func hold(in reader: StoreReader, server: String, clock: SenderClock) throws -> Hold? {
    try stored(in: reader, server: server, clock: clock).hold(.commanded, at: clock.boot())
  }

  /// Reads the gate from the store. If the stored value is damaged, logs it and returns a gate without waits.
  static func stored(
    in store: DriveStore, server: String, policy: Policy, clock: SenderClock, logger: Logger
  ) throws -> ServerGate {
    do {
      return try stored(in: StoreReader(store), server: server, policy: policy, clock: clock)
    } catch let error as DecodingError {
      logger.warning("the server's stored waits cannot be read; requests may leave now: \(StoreError.line(error))")
      return ServerGate(policy: policy)
    }
  }
}

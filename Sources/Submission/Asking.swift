import ControlServer
import Logging

/// Requests beside the passes, such as a drive's for a test: they too count for the circuit breaker, and leave only if it lets them.
extension Sender {
  /// No request may leave now.
  public struct Held: Error, Hashable, CustomStringConvertible {
    /// Until one may.
    public let wait: Duration

    public var description: String { "\(Report.Hold.breaker(wait))" }
  }

  /// Runs `body`, if its requests may leave.
  /// - Throws: ``Held``; what `body` throws.
  public func ask<Answer: Sendable>(_ body: @Sendable () async throws -> Answer) async throws -> Answer {
    let wait = leaveAloneUntil - clock.boot()
    if wait > .zero { throw Held(wait: wait) }
    guard let call = breaker.begin(at: clock.boot()) else { throw Held(wait: breaker.remaining(at: clock.boot())) }
    await rememberBreaker()
    do {
      let answer = try await body()
      await end(call, .success)
      return answer
    } catch ServerFailure.tooManyRequests(let retryAfter) {
      leaveAlone(for: retryAfter)
      await end(call, .tooManyRequests(retryAfter: retryAfter))
      throw ServerFailure.tooManyRequests(retryAfter: retryAfter)
    } catch {
      await end(call, Task.isCancelled ? .cancelled : .failure)
      throw error
    }
  }

  /// A server that has said when to come back is not asked before, whatever the breaker says.
  func leaveAlone(for wait: Duration?) {
    guard let wait else { return }
    leaveAloneUntil = max(leaveAloneUntil, clock.boot() + min(wait, CircuitBreaker.Policy.retryAfterMax))
  }

  private func end(_ call: CircuitBreaker.Call, _ outcome: CircuitBreaker.Outcome) async {
    breaker.end(call, outcome, at: clock.boot(), jitter: clock.random())
    await rememberBreaker()
  }

  /// A store that fails does not keep a drive from its test: the passes tell of it.
  private func rememberBreaker() async {
    do {
      try await keepBreaker()
    } catch {
      logger.warning("the circuit breaker's state cannot be kept: \(error)")
    }
  }
}

import Foundation
import Store

/// Decides the next step for a batch after one of its requests failed. A pure value, for one batch in one pass.
struct BatchRule: Hashable, Sendable {
  enum Consequence: Hashable, Sendable {
    /// Register the device again, then send the batch again.
    case registerAgain
    /// Read the history. If the batch has not arrived, and is not in doubt, request another test and send it again.
    case replaceTest
    /// End the pass: no batch can be sent without this request.
    case endPass
    /// Move the batch behind the others.
    case setAside
    /// Leave the batch for the history of a later pass: the server answered, and an earlier request may have arrived.
    case wait
    /// Read the history: the answer may come from a gateway or follow a repetition of the request, and say nothing about what the server has.
    /// If the batch has not arrived, split it in two; quarantine a single fence.
    case refuse
    /// 429: continue with the next batch after a moment.
    case putOff
  }

  private var hasRegisteredAgain = false
  private var hasReplacedTest = false

  /// - Parameters:
  ///   - isSuspect: Whether the server accepted other batches in this pass, and this one had trouble twice before.
  ///   - isInDoubt: ``isInDoubt(_:by:)``. Then no fence of it goes to another test: it waits for the history of a later pass.
  mutating func consequence(
    of failure: ServerFailure, at step: RequestStep, isSuspect: Bool, isInDoubt: Bool = false
  ) -> Consequence {
    let verdict = Verdict(failure)
    if verdict == .unknownClient, !hasRegisteredAgain {
      hasRegisteredAgain = true
      return .registerAgain
    }
    guard step == .coverageResult else { return step == .settings ? .endPass : .setAside }
    switch verdict {
    case .rejected where isInDoubt: return .wait
    case .noStartedTest where !hasReplacedTest:
      hasReplacedTest = true
      return .replaceTest
    case .rejected: return .refuse
    case .tooManyRequests: return .putOff
    // The server accepts other batches, and answers this one without storing it.
    case .doubtful where isSuspect && !isInDoubt && Self.isSwallowed(failure): return .refuse
    case .doubtful, .trouble, .forbidden, .unknownClient, .noStartedTest, .unreachable: return .setAside
    }
  }

  /// Whether an earlier request of `batch` left without an answer so lately that the history proves nothing.
  static func isInDoubt(_ batch: Batch, by clock: SenderClock) -> Bool { Doubt.end(of: batch, by: clock) != nil }

  /// As ``isInDoubt(_:by:)``, for the consequence of `failure`. Of empty answers the first one begins the hour: if each one did, a batch
  /// that is tried every 15 min would never leave it.
  static func isInDoubt(_ batch: Batch, after failure: ServerFailure, by clock: SenderClock) -> Bool {
    isInDoubt(batch, by: clock) && !isEmptyAgain(failure, of: batch, by: clock)
  }

  /// Whether the answer to `batch` is empty once more, and the hour after the last request that could still be under way is over. A server
  /// that had the fences would refuse the test as not started.
  static func isEmptyAgain(_ failure: ServerFailure, of batch: Batch, by clock: SenderClock) -> Bool {
    isSwallowed(failure) && Doubt.isOver(of: batch, by: clock)
  }

  /// Whether the batch has certainly not arrived, so that no history check is needed.
  /// - Parameter isInDoubt: ``isInDoubt(_:by:)``: then an earlier request can be why the server has no started test, or stores nothing.
  static func hasNotArrived(after failure: ServerFailure, at step: RequestStep, isInDoubt: Bool = false) -> Bool {
    step == .coverageResult
      && (Verdict(failure).isDefiniteNo || isInDoubt && (Verdict(failure) == .noStartedTest || isSwallowed(failure)))
  }

  /// A server answers 200 without a JSON object when it could not store a result; so does a captive portal
  /// (docs/protocol.md, 3.1).
  static func isSwallowed(_ failure: ServerFailure) -> Bool {
    if case .notTheServer(200..<300, _) = failure { true } else { false }
  }
}

/// How long an earlier request may be under way in the server, or be missing in its history: a refusal within this time can mean that the
/// fences have arrived. It counts by the time since the boot, because the wall clock can be set by hours meanwhile; after a reboot the rest
/// counts from the boot.
struct Doubt: Codable {
  static let lasts: Duration = .seconds(3600)

  let until: ServerGate.Deadline?
  let bootID: String
  /// Whether an earlier doubt is over, and each answer since then was empty; `nil`: no.
  let isOfEmptyAnswers: Bool?

  /// The doubt that ends at this time since the boot, for the store.
  /// - Throws: `EncodingError`
  static func text(until end: Duration, isOfEmptyAnswers: Bool = false, by clock: SenderClock) throws -> String {
    let doubt = Doubt(
      until: ServerGate.Deadline(end, at: clock.boot()), bootID: clock.bootID,
      isOfEmptyAnswers: isOfEmptyAnswers ? true : nil)
    return String(decoding: try JSONEncoder().encode(doubt), as: UTF8.self)
  }

  /// When the doubt about `batch` ends, as time since the boot; `nil` without one. If its request left and the store has no end of the doubt,
  /// or one in a form that is unknown, it begins now.
  static func end(of batch: Batch, by clock: SenderClock) -> Duration? {
    guard batch.state == .sending, batch.sent != nil || batch.doubt != nil else { return nil }
    let now = clock.boot()
    guard let doubt = stored(for: batch) else { return now + lasts }
    let end = doubt.end(by: clock, at: now)
    return end > now ? end : nil
  }

  /// Whether the doubt about an earlier request of `batch` is over, and each answer since then was empty.
  static func isOver(of batch: Batch, by clock: SenderClock) -> Bool {
    guard let doubt = stored(for: batch) else { return false }
    let now = clock.boot()
    return doubt.isOfEmptyAnswers == true || doubt.end(by: clock, at: now) <= now
  }

  private static func stored(for batch: Batch) -> Doubt? {
    guard let text = batch.doubt else { return nil }
    return try? JSONDecoder().decode(Doubt.self, from: Data(text.utf8))
  }

  private func end(by clock: SenderClock, at now: Duration) -> Duration {
    until?.end(isSameBoot: bootID == clock.bootID, now: now, longest: Self.lasts) ?? now
  }
}

/// Decides the next step for a speed test after its request failed. A pure value.
///
/// The server accepts exactly one result for a test. If it answers that the test is closed, it has the result, provided that an earlier
/// request may have arrived.
enum SpeedTestRule {
  enum Consequence: Hashable, Sendable {
    case submitted
    /// The server refuses it: it stays stored.
    case quarantine
    /// Move it behind the others.
    case setAside
    /// 429: continue with the next one after a moment.
    case putOff
  }

  /// - Parameter mayHaveArrived: Whether an earlier request was sent, and its answer is not known.
  static func consequence(of failure: ServerFailure, mayHaveArrived: Bool) -> Consequence {
    switch Verdict(failure) {
    case .tooManyRequests: .putOff
    case .rejected, .noStartedTest: isClosed(failure) && mayHaveArrived ? .submitted : .quarantine
    case .unreachable, .doubtful, .trouble, .forbidden, .unknownClient: .setAside
    }
  }

  /// Whether the server refuses the test as not started (docs/protocol.md, 6.2).
  private static func isClosed(_ failure: ServerFailure) -> Bool {
    guard case .refused(_, let message) = failure else { return false }
    let text = message.lowercased()
    return text.contains("invalid test status") || text.contains("no started test")
  }
}

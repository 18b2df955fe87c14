import Settings
import Store
import Submission

extension ProbeConfiguration {
  /// The settings of a sender.
  public var sender: SenderSettings {
    var settings = SenderSettings()
    settings.retention.maxAge = submission.maxAge
    settings.retention.keep = submission.keep
    settings.legacyThreshold = submission.legacyThreshold
    settings.quota = Quota(bytes: storage.maxSize, fences: storage.maxFences)
    settings.gate.spread = submission.spread
    (settings.gate.backoff, settings.gate.backoffMax) = (submission.backoff, submission.backoffMax)
    settings.gate.breaker = CircuitBreaker.Policy(
      threshold: submission.breakerThreshold, backoff: submission.breakerBackoff,
      backoffMax: submission.breakerBackoffMax)
    return settings
  }
}

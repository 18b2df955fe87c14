@testable import Submission

/// A second implementation of the breaker's rules: it shares only the inputs with the real breaker.
struct ReferenceBreaker {
  /// Seconds.
  struct Wait { var until: Double }
  enum Phase { case shut, waiting(until: Double), trying(lost: Double) }

  let threshold: Int
  let waits: [Double]
  var phase = Phase.shut
  var row = 0
  var openings = 0
  /// The end of a wait that a forced trial interrupted: until a success, no wait may end earlier. 0: no such wait.
  var owed = 0.0
  /// Calls that still count; a change of phase clears them.
  var valid: Set<Int> = []
  var nextCall = 0

  init(threshold: Int, backoff: Double, longest: Double) {
    self.threshold = threshold
    var waits = [backoff]
    while let last = waits.last, last < longest { waits.append(min(2 * last, longest)) }
    self.waits = waits
  }

  /// The wait of this opening; later openings have the last wait of the list.
  private var wait: Double { waits[max(0, min(openings, waits.count) - 1)] }

  mutating func begin(at now: Double, force: Bool) -> Int? {
    switch phase {
    case .shut: break
    case .waiting(let until):
      if now < until && !force { return nil }
      owed = until
      change(to: .trying(lost: now + wait))
    case .trying(let lost):
      if now < max(lost, owed) { return nil }
      change(to: .trying(lost: now + wait))
    }
    nextCall += 1
    valid.insert(nextCall)
    return nextCall
  }

  mutating func success(_ call: Int) {
    guard valid.contains(call) else { return }
    (row, openings, owed) = (0, 0, 0)
    if case .shut = phase { return }
    change(to: .shut)
  }

  mutating func tooMany(_ call: Int, retryAfter: Double?, at now: Double) {
    guard valid.contains(call) else { return }
    if case .shut = phase {
      row += 1
      if row < threshold { return }
    }
    row = 0
    openings += 1
    change(to: .waiting(until: max(owed, now + max(wait, min(3600, retryAfter ?? 0)))))
  }

  mutating func otherwise(_ call: Int, at now: Double) {
    guard valid.contains(call), case .trying = phase else { return }
    change(to: .waiting(until: max(owed, now + wait)))
  }

  /// The process ends and another begins at once.
  mutating func restart() {
    valid = []
    if case .trying(let lost) = phase { phase = .waiting(until: max(lost, owed)) }
    owed = 0
  }

  /// The host reboots: its clock starts at 0, and the time that it was off is unknown.
  mutating func reboot(at now: Double) {
    restart()
    if case .waiting(let until) = phase { phase = .waiting(until: max(0, until - now)) }
  }

  private mutating func change(to phase: Phase) {
    self.phase = phase
    valid = []
  }

  var isShut: Bool { if case .shut = phase { true } else { false } }
  var deadline: Double? {
    switch phase {
    case .shut: nil
    case .waiting(let until): until
    case .trying(let lost): max(lost, owed)
    }
  }
}

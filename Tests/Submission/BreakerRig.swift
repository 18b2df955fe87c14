import Coverage

@testable import Submission

/// The real breaker and the reference beside it, given the same inputs.
struct BreakerRig {
  enum Input: CaseIterable {
    case begin, force
    case success, failure, cancelled, tooMany, tooManyWithWait
    case lateSuccess, lateTooMany, lateFailure
    case second, minute, restart, reboot
  }

  var real = CircuitBreaker()
  var reference = ReferenceBreaker(threshold: 3, backoff: 30, longest: 300)
  /// Whole seconds since the boot: both sides compute exactly.
  var now = 0.0
  var boots = 0
  /// Calls in progress, the oldest first.
  var calls: [(real: CircuitBreaker.Call, reference: Int)] = []

  private var time: Duration { .seconds(Int64(now)) }
  private var bootID: String { "boot \(boots)" }

  /// - Returns: Whether the two agree.
  mutating func apply(_ input: Input) -> Bool {
    switch input {
    case .begin: return begin(force: false)
    case .force: return begin(force: true)
    case .success: end(calls.popLast(), .success)
    case .failure: end(calls.popLast(), .failure)
    case .cancelled: end(calls.popLast(), .cancelled)
    case .tooMany: end(calls.popLast(), .tooManyRequests(retryAfter: nil))
    case .tooManyWithWait: end(calls.popLast(), .tooManyRequests(retryAfter: .seconds(100)))
    case .lateSuccess: end(calls.isEmpty ? nil : calls.removeFirst(), .success)
    case .lateTooMany: end(calls.isEmpty ? nil : calls.removeFirst(), .tooManyRequests(retryAfter: nil))
    case .lateFailure: end(calls.isEmpty ? nil : calls.removeFirst(), .failure)
    case .second: now += 1
    case .minute: now += 60
    case .restart:
      restart()
      reference.restart()
    case .reboot:
      let memory = real.memory(at: time, bootID: bootID)
      reference.reboot(at: now)
      boots += 1
      now = 0
      restart(from: memory)
    }
    return agrees
  }

  private mutating func begin(force: Bool) -> Bool {
    let (a, b) = (real.begin(at: time, force: force), reference.begin(at: now, force: force))
    if let a, let b { calls.append((a, b)) }
    return (a == nil) == (b == nil) && agrees
  }

  private mutating func end(
    _ call: (real: CircuitBreaker.Call, reference: Int)?, _ outcome: CircuitBreaker.Outcome
  ) {
    guard let call else { return }
    real.end(call.real, outcome, at: time)
    switch outcome {
    case .success: reference.success(call.reference)
    case .tooManyRequests(let wait): reference.tooMany(call.reference, retryAfter: wait?.inSeconds, at: now)
    case .failure, .cancelled: reference.otherwise(call.reference, at: now)
    }
  }

  private mutating func restart() { restart(from: real.memory(at: time, bootID: bootID)) }

  private mutating func restart(from memory: CircuitBreaker.Memory) {
    calls = []
    real = CircuitBreaker(policy: real.policy, memory: memory, at: time, bootID: bootID)
  }

  /// Whether both have the same state and, unless closed, the same deadline.
  private var agrees: Bool {
    guard (real.state == .closed) == reference.isShut, real.refusals == reference.row, real.step == reference.openings
    else { return false }
    guard real.state != .closed else { return real.deadline == nil }
    return real.deadline.map(\.inSeconds) == reference.deadline && real.remaining(at: time) <= .seconds(3600)
  }
}

// MARK: Searching

extension BreakerRig {
  /// Tries all sequences of up to `depth` inputs.
  /// - Parameter steps: Counts the sequences.
  /// - Returns: The first sequence after which the two disagree.
  func firstMismatch(depth: Int, _ steps: inout Int) -> [Input]? {
    for input in Input.allCases {
      var next = self
      steps += 1
      guard next.apply(input) else { return [input] }
      guard depth > 1 else { continue }
      if let rest = next.firstMismatch(depth: depth - 1, &steps) { return [input] + rest }
    }
    return nil
  }

  /// Tries a random sequence of 20 inputs on a closed breaker.
  /// - Parameter reached: Collects the steps that the breaker reaches.
  /// - Returns: The sequence, if the two disagree after it.
  static func randomMismatch(
    _ reached: inout Set<Int>, _ generator: inout some RandomNumberGenerator
  ) -> [Input]? {
    var rig = BreakerRig()
    var sequence: [Input] = []
    for _ in 0..<20 {
      // Half of the inputs are a begin or a 429: other sequences rarely leave the closed state.
      let input: Input =
        switch UInt8.random(in: 0..<8, using: &generator) {
        case 0, 1: .begin
        case 2, 3: .tooMany
        default: Input.allCases[Int.random(in: 0..<Input.allCases.count, using: &generator)]
        }
      sequence.append(input)
      guard rig.apply(input) else { return sequence }
      reached.insert(rig.real.step)
    }
    return nil
  }
}

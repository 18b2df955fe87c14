import Coverage
import Submission

/// A fleet whose server comes back at 0 s: it accepts `rate` requests a second, and answers 429 to the rest. Each device runs the
/// sender's own gate on a virtual clock.
struct Fleet {
  let devices: Int
  /// Requests a second that the server accepts.
  let rate: Int
  /// Requests that a delivery needs.
  let requestsPerDelivery: Int
  let behaviour: Behaviour
  /// The end of the simulation, in seconds.
  static let horizon = 3600

  private struct Device {
    var gate: ServerGate
    var call: ServerGate.Call?
    var done = 0
  }

  func run(_ generator: inout some RandomNumberGenerator) -> Outcome {
    var policy = ServerGate.Policy()
    policy.spread = .seconds(behaviour.spread)
    var fleet = Array(repeating: Device(gate: ServerGate(policy: policy)), count: devices)
    var outcome = Outcome(refusals: Array(repeating: 0, count: devices), devices: devices)
    outcome.requests = Array(repeating: 0, count: Self.horizon)
    var agenda: [[Int]] = Array(repeating: [], count: Self.horizon * 1000)
    agenda[0] = Array(0..<devices)
    var tokens = Double(rate)
    for now in agenda.indices {
      tokens = min(Double(rate), tokens + Double(rate) / 1000)
      for device in agenda[now] {
        let wait = step(&fleet[device], device, at: now, &tokens, &outcome, &generator)
        if let wait, now + wait < agenda.count { agenda[now + wait].append(device) }
      }
      agenda[now] = []
      if outcome.delivered.count == devices { break }
    }
    return outcome
  }

  /// One request of a device.
  /// - Returns: Milliseconds until it wants to send again; `nil` when it has delivered.
  private func step(
    _ device: inout Device, _ index: Int, at now: Int, _ tokens: inout Double, _ outcome: inout Outcome,
    _ generator: inout some RandomNumberGenerator
  ) -> Int? {
    let time: Duration = .milliseconds(now)
    let call: ServerGate.Call
    if let begun = device.call, device.gate.allows(begun, at: time) {
      call = begun
    } else {
      switch device.gate.ask(.background, at: time, random: Double.random(in: 0..<1, using: &generator)) {
      case .leave(let begun): call = begun
      case .held(let hold): return Self.milliseconds(hold.wait)
      case .spread(let wait): return Self.milliseconds(wait)
      }
    }
    device.call = call
    outcome.requests[now / 1000] += 1
    if tokens >= 1 {
      tokens -= 1
      device.done += 1
      guard device.done >= requestsPerDelivery else { return Self.roundTrip }
      device.gate.end(call, .success, at: time, random: 0)
      outcome.delivered.append(now)
      return nil
    }
    outcome.refusals[index] += 1
    if let fixed = behaviour.fixedRetry { return Int(fixed * 1000) }
    device.call = nil
    let (jitter, random) = (
      Double.random(in: 0..<1, using: &generator), Double.random(in: 0..<1, using: &generator)
    )
    let refusal = ServerFailure.tooManyRequests(retryAfter: nil)
    device.gate.end(call, .failed(refusal), at: time, random: jitter)
    device.gate.troubled(by: refusal, at: time, random: random)
    return Self.milliseconds(device.gate.hold(.background, at: time)?.wait ?? .zero)
  }

  /// From one request of a delivery to the next.
  private static let roundTrip = 50

  private static func milliseconds(_ duration: Duration) -> Int { max(1, Int(duration.inMicroseconds / 1000) + 1) }
}

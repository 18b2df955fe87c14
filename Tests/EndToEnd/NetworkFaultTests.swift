import Foundation
import TestSupport
import Testing

/// A service whose network fails while it sends. `NETWORK_FAULTS=20` repeats each fault twenty times.
@Suite(
  .enabled(
    if: Outpost.isPossible,
    "networks of its own need CAP_SYS_ADMIN, CAP_NET_ADMIN, ip, tc, unshare, nsenter and openssl"))
struct NetworkFaultTests {
  private static let rounds = Int(ProcessInfo.processInfo.environment["NETWORK_FAULTS"] ?? "") ?? 1
  /// The longest wait of the configured back-off and some requests that time out, doubled for a busy machine.
  private static let patience: Duration = .seconds(20)

  @Test(
    "when the network fails and heals, then the server soon has every fence once",
    arguments: NetworkFault.all)
  func recovers(fault: NetworkFault) async throws {
    var recoveries: [Duration] = []
    for _ in 0..<Self.rounds { recoveries.append(try await recover(from: fault)) }
    guard Self.rounds > 1 else { return }
    recoveries.sort()
    let figures = [recoveries[recoveries.count / 2], recoveries[recoveries.count - 1]].map {
      String(format: "%.1f s", $0 / .seconds(1))
    }
    print(
      "\(fault.testDescription): \(Self.rounds) times; recovered after \(figures[0]) (median), \(figures[1]) (worst)")
  }

  /// - Returns: The time from the healing until the server has everything.
  private func recover(from fault: NetworkFault) async throws -> Duration {
    let outpost = try await Outpost(
      host: fault.host, isSecure: fault.isSecure, drives: fault.drives, fences: fault.fences)
    try await fault.strike(outpost)
    #expect(try await outpost.received().count < outpost.expected, "the fault came too late")
    try await fault.heal(outpost)
    let healed = ContinuousClock.now
    do {
      _ = try await eventually(within: Self.patience, "everything is at the server") {
        try await outpost.received().count >= outpost.expected ? () : nil
      }
    } catch {
      Issue.record("\(fault.testDescription): \(error)\n\(outpost.log)")
    }
    let recovery = ContinuousClock.now - healed
    _ = try await eventually(within: Self.patience, "the service knows it") {
      let sessions = try await outpost.run("sessions", ["--json"])
      return sessions.components(separatedBy: "\"submitted\"").count == fault.drives + 1 ? () : nil
    }
    #expect(try await outpost.run("submit") == "nothing to submit\n")
    #expect(try await outpost.hasAllOnce(), "\(outpost.log)")
    #expect(try await outpost.stopService() == 0)
    return recovery
  }
}

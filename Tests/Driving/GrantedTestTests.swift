import Coverage
import Foundation
import Pinging
import TestSupport
import Testing

@testable import Driving
@testable import Submission

/// The time in which a test that waits for its use may still be used.
struct GrantedTestTests {
  @Test(
    "when a test has waited, then it is used only within its life, which counts from the request for it",
    arguments: [
      ("null", 14_279, true), ("null", 14_280, false), ("60", 59, true), ("60", 60, false), ("999999", 14_280, false),
    ])
  func life(limit: String, waited: Double, isUsable: Bool) throws {
    let answer = """
      {"test_uuid": "t", "ping_token": "AAECAwQFBgcICQoLDA0ODw==", "ping_host": "h", "ping_port": 1,
       "max_coverage_measurement_seconds": \(limit)}
      """
    let grant = GrantedTest(
      coverage: try CoverageGrant(Data(answer.utf8)), generation: 1, requested: .seconds(10), requestTime: .sampleStart)
    var session = TestSelection()
    let decision = session.tick(at: .seconds(10), path: .cellular)
    #expect(decision == .prepare(1))
    #expect(grant.isUsable(at: .seconds(10 + waited), in: session, RecoveryPolicy()) == isUsable)
    session.linkChanged(at: .seconds(11))
    #expect(!grant.isUsable(at: .seconds(10 + waited), in: session, RecoveryPolicy()), "requested by another link")
  }

  @Test("when the token's IP version differs from that of the pings, then one line says so; else none does")
  func oddity() throws {
    func oddity(_ version: String, _ family: IPVersion?) throws -> String? {
      let coverage = try CoverageGrant.sample("T", version)
      return GrantedTest(coverage: coverage, generation: 1, requested: .start, requestTime: .sampleStart)
        .oddity(forPingsOf: family)
    }
    #expect(
      try oddity("\"ip_version\": 6", .ipv4)
        == "the control server made the ping token for IPv6, but pings.ip-version is 4: the ping server will refuse it")
    #expect(try oddity("\"ip_version\": 4", .ipv4) == nil)
    #expect(try oddity("\"ip_version\": 6", nil) == nil)
    #expect(try oddity("", .ipv6) == nil)
  }
}

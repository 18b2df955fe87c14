import Foundation
import TestSupport
import Testing

@testable import SpeedTest

/// Rates of whole tests against the real tools/measurement-server on loopback: these need the processors for themselves. Edges are
/// those of docs/protocol.md, 9.
@Suite(.serialized) struct RateSlowTests {
  @Test(
    "When a native server is tested over TCP, then ping, download and upload have figures, and QUIT is sent (edge 33)")
  func native() async throws {
    let lab = try await Lab(rate: nil)
    let outcome = try await SpeedTestRun(try lab.plan()).run()
    try Lab.expectWhole(outcome)
    #expect(outcome.encryption == nil)
    _ = try await eventually("three connections end with BYE") {
      lab.server.standardOutput.components(separatedBy: "said BYE").count == 4 ? true : nil
    }
  }

  @Test(
    "When the server has TLS, then the test is whole; an unknown certificate is refused unless verification is off (edges 4, 32)",
    .enabled(if: TestCertificates.canBeMade, "openssl is not installed"))
  func tls() async throws {
    let certificates = try await TestCertificates.shared.value
    let lab = try await Lab(certificates.options("address") + ["--http"], rate: nil)
    var plan = try lab.plan()
    (plan.opening, plan.isEncrypted) = (.http, true)
    let unknown = plan
    await #expect(throws: SpeedTestError.self) { try await SpeedTestRun(unknown).run() }
    plan.access.caFile = certificates.authority
    let outcome = try await SpeedTestRun(plan).run()
    try Lab.expectWhole(outcome)
    #expect(outcome.encryption?.hasPrefix("TLSv1.3 (") == true)
    plan.access.caFile = nil
    plan.access.verifiesCertificate = false
    #expect(try await SpeedTestRun(plan).run().isComplete)
  }

  @Test("When the link has 32 kbit/s, then one connection continues, and both figures are right (edges 22, 24, 25)")
  func slowLink() async throws {
    let lab = try await Lab(rate: 4000)
    let outcome = try await SpeedTestRun(try lab.plan(seconds: 3)).run()
    #expect(outcome.fellBackToOne)
    #expect(outcome.downloadCurves.count == 1 && outcome.uploadCurves.count == 1)
    let (download, upload) = (try #require(outcome.download), try #require(outcome.upload))
    #expect((20...48).contains(download.kilobitsPerSecond))
    #expect((20...64).contains(upload.kilobitsPerSecond))
    #expect(download.nanoseconds <= 6_200_000_000 && upload.nanoseconds <= 6_200_000_000)
  }

  @Test("When the link has 20 Mbit/s a connection, then three have 60 Mbit/s in both directions")
  func shapedLink() async throws {
    let lab = try await Lab(rate: 2_500_000)
    let outcome = try await SpeedTestRun(try lab.plan(seconds: 2)).run()
    #expect(!outcome.fellBackToOne)
    #expect((54_000...66_000).contains(try #require(outcome.download).kilobitsPerSecond))
    #expect((50_000...80_000).contains(try #require(outcome.upload).kilobitsPerSecond))
  }

  @Test("When the last chunk of the download never comes, then it is cut off and the upload reconnects (edge 24)")
  func endlessDownload() async throws {
    let lab = try await Lab(["--fault", "no-end"], rate: nil)
    let outcome = try await SpeedTestRun(try lab.plan()).run()
    #expect(outcome.failures == [])
    #expect(outcome.isComplete)
    #expect((3_900_000_000...4_500_000_000).contains(try #require(outcome.download).nanoseconds))
  }
}

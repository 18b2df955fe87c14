import Foundation
import SpeedTest
import TestSupport
import Testing

/// Whole tests against the real tools/measurement-server on loopback. Numbers of edges are those of the specification's section 10.
@Suite(.serialized) struct ServerSlowTests {
  private struct Lab {
    let server: RunningProgram
    let port: UInt16

    init(_ arguments: [String] = []) async throws {
      server = try .product("measurement-server", ["--secret", "lab"] + arguments)
      let address = try await server.line(after: "measurement server: ")
      port = try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
    }

    func plan(seconds: Int = 1, threads: Int = 3, secret: String = "lab") throws -> SpeedTestPlan {
      let token = LabToken.version1(
        secret: secret, uuid: "11111111-2222-3333-4444-555555555555", unixSeconds: Int64(Date().timeIntervalSince1970))
      var plan = SpeedTestPlan(host: "127.0.0.1", port: port, token: try MeasurementToken(token))
      plan.opening = .native
      (plan.seconds, plan.threads) = (seconds, threads)
      return plan
    }
  }

  private func expectWhole(_ outcome: SpeedTestOutcome, threads: Int = 3) throws {
    #expect(outcome.failures == [])
    #expect(outcome.isComplete)
    #expect(outcome.serverVersion == "1.3.5")
    #expect(outcome.downloadCurves.count == threads && outcome.uploadCurves.count == threads)
    #expect((10...200).contains(outcome.pings.pings.count))
    let (download, upload) = (try #require(outcome.download), try #require(outcome.upload))
    #expect((900_000_000...2_500_000_000).contains(download.nanoseconds))
    #expect((500_000_000...4_200_000_000).contains(upload.nanoseconds))
  }

  @Test(
    "When a native server is tested over TCP, then ping, download and upload have figures, and QUIT is said (edge 33)")
  func native() async throws {
    let lab = try await Lab()
    let outcome = try await SpeedTestRun(try lab.plan()).run()
    try expectWhole(outcome)
    #expect(outcome.encryption == nil)
    _ = try await eventually("three connections end with BYE") {
      lab.server.standardOutput.components(separatedBy: "said BYE").count == 4 ? true : nil
    }
  }

  @Test("When a server of RMBThttp is tested, with a NUL before its greeting, then the test is whole (edges 1, 2, 3)")
  func http() async throws {
    let lab = try await Lab(["--http", "--fault", "nul"])
    var plan = try lab.plan()
    plan.opening = .http
    try expectWhole(try await SpeedTestRun(plan).run())
  }

  @Test(
    "When the server has TLS, then the test is whole; an unknown certificate is refused unless told otherwise (edges 4, 32)",
    .enabled(if: Surroundings.program("openssl") != nil, "openssl is not installed"))
  func tls() async throws {
    let folder = try TemporaryFolder()
    let (certificate, key) = (folder.file("certificate.pem"), folder.file("key.pem"))
    let making = try RunningProgram(
      try #require(Surroundings.program("openssl")),
      [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=lab", "-addext",
        "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
      ])
    #expect(try await making.exitStatus() == 0)
    let lab = try await Lab(["--certificate", certificate, "--key", key, "--http"])
    var plan = try lab.plan()
    (plan.opening, plan.isEncrypted) = (.http, true)
    let unknown = plan
    await #expect(throws: SpeedTestError.self) { try await SpeedTestRun(unknown).run() }
    plan.caFile = certificate
    let outcome = try await SpeedTestRun(plan).run()
    try expectWhole(outcome)
    #expect(outcome.encryption?.hasPrefix("TLSv1.3 (") == true)
    plan.caFile = nil
    plan.verifiesCertificate = false
    #expect(try await SpeedTestRun(plan).run().isComplete)
  }

  @Test("When the token is of another secret, then the test fails with that reason (edge 7)")
  func refusedToken() async throws {
    let lab = try await Lab()
    let plan = try lab.plan(secret: "other")
    await #expect(throws: SpeedTestError.tokenRefused) { try await SpeedTestRun(plan).run() }
  }

  @Test("When fresh connections are closed before the greeting, then they are opened again (edge 5)")
  func closedFresh() async throws {
    let lab = try await Lab(["--fault", "close-first=4"])
    try expectWhole(try await SpeedTestRun(try lab.plan()).run())
  }

  @Test("When an upgrade is sent to a native server, then the error says so (spec, section 1)")
  func upgradeToNative() async throws {
    let lab = try await Lab()
    var plan = try lab.plan()
    plan.opening = .http
    let wrong = plan
    await #expect(throws: SpeedTestError.upgradeRefused("it speaks RMBT without HTTP")) {
      try await SpeedTestRun(wrong).run()
    }
  }

  @Test("When the third connection drops out, then the others finish, and the result is theirs (edges 21, 29)")
  func dropOut() async throws {
    let lab = try await Lab(["--fault", "drop-third"])
    let outcome = try await SpeedTestRun(try lab.plan()).run()
    #expect(outcome.failures == [.closed])
    #expect(outcome.isComplete)
    #expect(outcome.downloadCurves.count == 2 && outcome.uploadCurves.count == 2)
  }

  @Test("When the link has 64 kbit/s, then one connection goes on, and both figures are right (edges 22, 24, 25)")
  func slowLink() async throws {
    // 8000 bytes a second on each connection of the server; three share nothing there.
    let lab = try await Lab(["--fault", "slow=4000"])
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
    let lab = try await Lab(["--fault", "slow=2500000"])
    let outcome = try await SpeedTestRun(try lab.plan(seconds: 2)).run()
    #expect(!outcome.fellBackToOne)
    #expect((54_000...66_000).contains(try #require(outcome.download).kilobitsPerSecond))
    #expect((50_000...80_000).contains(try #require(outcome.upload).kilobitsPerSecond))
  }

  @Test("When the last chunk of the download never comes, then it is cut off and the upload reconnects (edge 24)")
  func endlessDownload() async throws {
    let lab = try await Lab(["--fault", "no-end"])
    let outcome = try await SpeedTestRun(try lab.plan()).run()
    #expect(outcome.failures == [])
    #expect(outcome.isComplete)
    #expect((3_900_000_000...4_500_000_000).contains(try #require(outcome.download).nanoseconds))
  }

  @Test("When the upload is never reported, then it is given up after t + 3.1 s, without a figure (edge 25)")
  func deafUpload() async throws {
    let lab = try await Lab(["--fault", "deaf"])
    let started = ContinuousClock.now
    let outcome = try await SpeedTestRun(try lab.plan()).run()
    #expect(outcome.upload == nil && !outcome.isComplete)
    #expect(outcome.download != nil)
    #expect(ContinuousClock.now - started < .seconds(20))
  }

  @Test(
    "When the server breaks the protocol or resets, then the test ends soon with its reason, and nothing is made up",
    arguments: ["wrong-chunk", "wrong-time", "reset"])
  func broken(fault: String) async throws {
    let lab = try await Lab(["--fault", fault])
    let outcome = try await SpeedTestRun(try lab.plan()).run()
    #expect(outcome.failures.count == 3)
    #expect(outcome.download == nil && outcome.upload == nil && !outcome.isComplete)
  }

  @Test("When a download stalls, then what was read counts, at its own time (edges 24, 30)")
  func stall() async throws {
    let lab = try await Lab(["--fault", "stall"])
    let outcome = try await SpeedTestRun(try lab.plan()).run()
    let download = try #require(outcome.download)
    #expect(download.nanoseconds < 4_200_000_000)
    #expect(outcome.upload != nil)
  }

  @Test("When a test is aborted, then it ends at once as aborted")
  func abort() async throws {
    let lab = try await Lab()
    let run = SpeedTestRun(try lab.plan(seconds: 10))
    let started = ContinuousClock.now
    await #expect(throws: SpeedTestError.aborted) {
      try await run.run { progress in
        if progress.phase == .download { run.abort() }
      }
    }
    #expect(ContinuousClock.now - started < .seconds(8))
  }

  @Test("When nothing listens, then the error says so")
  func nothingListens() async throws {
    let lab = try await Lab()
    let plan = try lab.plan()
    try await lab.server.stop()
    await #expect(throws: SpeedTestError.unreachable("Connection refused")) { try await SpeedTestRun(plan).run() }
  }
}

import Foundation
import TestSupport
import Testing

@testable import SpeedTest

/// The real tools/measurement-server on loopback, for one test.
struct Lab {
  let server: RunningProgram
  let port: UInt16

  /// - Parameter rate: The bytes a second of each connection. `nil` for no limit, which takes all processors.
  init(_ arguments: [String] = [], rate: Int? = 2_500_000) async throws {
    let link = rate.map { ["--fault", "slow=\($0)"] } ?? []
    server = try .product("measurement-server", ["--secret", "lab"] + link + arguments)
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

  /// Checks the outcome of an undisturbed test.
  static func expectWhole(_ outcome: SpeedTestOutcome, threads: Int = 3) throws {
    #expect(outcome.failures == [])
    #expect(outcome.isComplete)
    #expect(outcome.serverVersion == "1.3.5")
    #expect(outcome.downloadCurves.count == threads && outcome.uploadCurves.count == threads)
    #expect((10...200).contains(outcome.pings.count))
    let (download, upload) = (try #require(outcome.download), try #require(outcome.upload))
    #expect((900_000_000...2_500_000_000).contains(download.nanoseconds))
    #expect((500_000_000...4_200_000_000).contains(upload.nanoseconds))
  }
}

import Foundation
import TestSupport

/// Helpers for speed tests on the move.
extension Field {
  /// The speed of the receiver of ``moving(_:serverOptions:)``, m/s.
  static let speed = 50.0
  static let metresPerDegree = 111_195.0

  /// A field with a measurement server, and a receiver that moves north for ten minutes.
  /// - Parameters:
  ///   - settings: More lines of the configuration.
  ///   - withQoS: Whether the servers serve QoS tests.
  ///   - measurementOptions: More options of the measurement server.
  ///   - serverOptions: More options of the control server.
  static func moving(
    _ settings: String = "", withQoS: Bool = false, measurementOptions: [String] = [], serverOptions: [String] = []
  ) async throws -> Field {
    let folder = try TemporaryFolder()
    let track = (0..<600).map { "\($0),\(48 + Double($0) * speed / metresPerDegree),16.37,\(speed),0,170,4" }
    let file = try folder.write(
      (["seconds,latitude,longitude,speed_mps,course_deg,altitude_m,accuracy_m"] + track).joined(separator: "\n"),
      to: "track.csv")
    let player = try await GPSPlayerTool(["--gpsd", file])
    let measurement = try await MeasurementServerTool(measurementOptions, withQoS: withQoS)
    return try await Field(
      gpsdPort: player.port, keeping: [player.program, measurement.program, folder],
      settings: "submission: { spread: 0s }\n" + settings,
      serverOptions: measurement.controlServerOptions + serverOptions)
  }

  /// The stored speed tests; none before the first.
  func speedTests() async throws -> [[String: Any]] {
    let listing = try await run("sessions", ["--speed-tests", "--json"])
    // The first test creates the directory.
    guard listing.status == 0 else { return [] }
    return try JSONSerialization.jsonObject(with: Data(listing.output.utf8)) as? [[String: Any]] ?? []
  }

  /// The test of a loop with this number.
  func speedTest(_ number: Int) async throws -> [String: Any]? {
    try await speedTests().first { $0["test_counter"] as? Int == number }
  }

  /// `nil` until it measures, for `eventually`.
  func isMeasuring(_ number: Int) async throws -> Bool? {
    try await speedTest(number)?["state"] as? String == "measuring" ? true : nil
  }

  /// `nil` until it has ended, for `eventually`.
  func hasEnded(_ number: Int) async throws -> Bool? {
    try await speedTest(number)?["outcome"] == nil ? nil : true
  }
}

import Coverage
import Store
import TestSupport

extension StoredSpeedTest {
  /// Two tests of a store: the first with every value but an error, the second failed and without a place.
  /// - Parameter change: Changes the figures of the first one.
  static func samples(_ change: (inout SpeedTestFigures) -> Void = { _ in }) async throws -> [StoredSpeedTest] {
    let folder = try TemporaryFolder()
    let store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
    var start = SpeedTestOutbox.Start(
      controlServer: "http://host", clientUUID: "C", testUUID: "T,\"1\"", token: "t", started: .sampleStart)
    (start.loopUUID, start.number) = ("L1", 1)
    start.place = Coordinate(latitude: 48.2082, longitude: 16.3738)
    start.technology = Technology("4G/LTE")
    let first = try await store.speedTests.begin(start)
    var figures = SpeedTestFigures.sample()
    figures.serverName = "A & \"B\" <C>"
    figures.encryption = "TLSv1.3 (TLS_AES_256_GCM_SHA384)"
    figures.traffic = SpeedTestTraffic(received: 5_000_000_000, sent: 20_000_000)
    figures.delays = SpeedTestDelay.Part.allCases.map {
      SpeedTestDelay($0, roundTrips: [100_000_000, 300_000_000], lost: 1)
    }
    figures.links = [SpeedTestLink(kind: .cellular, interface: "wwan0", address: "192.0.2.7")]
    change(&figures)
    let fix = Fix(coordinate: Coordinate(latitude: 48.21, longitude: 16.38), accuracy: 5)
    figures.places = [SpeedTestPlace(fix, at: .sampleStart, offset: 7)].compactMap { $0 }
    let end = WallTime.sampleStart.later(by: .seconds(20))
    try await store.speedTests.end(first, .init(.completed, at: end, figures: figures))
    try await store.speedTests.markSubmitted(first, .result, at: end)
    let second = try await store.speedTests.begin(
      .init(controlServer: "http://host", clientUUID: "C", testUUID: "T2", token: "t", started: end))
    try await store.speedTests.end(second, .init(.failed, at: end, figures: nil, error: "no connection"))
    return try await store.reading { try $0.speedTests() }
  }
}

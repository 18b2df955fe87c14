import Coverage

extension SpeedTestFigures {
  /// A complete test of three connections.
  public static func sample(download: Int64 = 47_800, upload: Int64 = 19_100, pings: [Int64] = [20, 30, 40])
    -> SpeedTestFigures
  {
    var figures = SpeedTestFigures(server: "192.0.2.1", port: 443, kind: "RMBThttp")
    figures.serverVersion = "1.3.5"
    figures.download = .sample(download)
    figures.upload = .sample(upload)
    figures.pings = pings.enumerated().map { number, milliseconds in
      SpeedTestPing(
        client: milliseconds * 1_000_000 + 500_000, server: milliseconds * 1_000_000, offset: Int64(number) * 1_000_000)
    }
    figures.traffic = SpeedTestTraffic(received: 50_000_000, sent: 20_000_000)
    figures.localAddress = "192.0.2.7"
    figures.serverAddress = "192.0.2.1"
    (figures.operatorCode, figures.operatorName, figures.isRoaming) = ("23201", "A", false)
    return figures
  }
}

extension SpeedTestRate {
  public static func sample(_ kilobits: Int64) -> SpeedTestRate {
    let bytes = kilobits * 125 * 7
    return SpeedTestRate(
      kilobitsPerSecond: kilobits, bytes: bytes, nanoseconds: 7_000_000_000, began: 3_000_000_000, connections: 3,
      curves: (0..<3).map { _ in [[3_500_000_000, bytes / 6], [7_000_000_000, bytes / 3]] },
      planned: 7_000_000_000, silence: 30_000_000)
  }
}

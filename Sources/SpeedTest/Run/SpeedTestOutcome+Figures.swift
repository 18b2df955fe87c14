import Coverage

extension SpeedTestOutcome {
  /// The figures for the store, the control server and exports: the rates, and the curves with fewer points.
  /// - Parameter plan: The plan of the test: it has the server, port and protocol.
  public func figures(_ plan: SpeedTestPlan) -> SpeedTestFigures {
    var figures = SpeedTestFigures(
      server: plan.host, port: plan.port, kind: plan.opening == .http ? "RMBThttp" : "RMBT")
    figures.serverVersion = serverVersion
    figures.encryption = encryption
    figures.localAddress = endPoints?.local
    figures.serverAddress = endPoints?.remote
    figures.download = Self.rate(downloadCurves, began: downloadBegan)
    figures.upload = Self.rate(uploadCurves, began: uploadBegan)
    figures.pings = pings.pings.map { SpeedTestPing(client: $0.client, server: $0.server, offset: $0.offset) }
    figures.fellBackToOne = fellBackToOne
    figures.traffic = traffic
    return figures
  }

  /// The result of one direction; `nil` when no thread has a point.
  /// - Parameter began: The start of the phase, ns since the start of the test.
  private static func rate(_ curves: [[Sample]], began: Int64) -> SpeedTestRate? {
    guard let result = Throughput(threads: curves) else { return nil }
    return SpeedTestRate(
      kilobitsPerSecond: result.kilobitsPerSecond, bytes: result.bytes, nanoseconds: result.nanoseconds, began: began,
      connections: curves.count,
      curves: curves.map { CurveThinning.thinned($0, around: result.nanoseconds).map { [$0.nanoseconds, $0.bytes] } })
  }
}

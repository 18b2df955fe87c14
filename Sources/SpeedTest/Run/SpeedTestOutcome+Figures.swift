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
    figures.download = Self.rate(downloadCurves, began: downloadBegan, plan)
    figures.upload = Self.rate(uploadCurves, began: uploadBegan, plan)
    figures.pings = pings.pings.map { SpeedTestPing(client: $0.client, server: $0.server, offset: $0.offset) }
    figures.fellBackToOne = fellBackToOne
    figures.traffic = traffic
    return figures
  }

  /// The result of one direction; `nil` when no thread has a point.
  /// - Parameter began: The start of the phase, ns since the start of the test.
  private static func rate(_ curves: [[Sample]], began: Int64, _ plan: SpeedTestPlan) -> SpeedTestRate? {
    guard let result = Throughput(threads: curves) else { return nil }
    return SpeedTestRate(
      kilobitsPerSecond: result.kilobitsPerSecond, bytes: result.bytes, nanoseconds: result.nanoseconds, began: began,
      connections: curves.count,
      curves: curves.map { CurveThinning.thinned($0, around: result.nanoseconds).map { [$0.nanoseconds, $0.bytes] } },
      planned: plan.duration, silence: longestSilence(of: curves, in: plan.duration))
  }

  /// The longest time of a phase in which no connection had a byte, ns; the time before the first byte and after the last one counts.
  static func longestSilence(of curves: [[Sample]], in duration: Int64) -> Int64 {
    let arrivals = curves.flatMap { curve in
      zip([Sample(nanoseconds: 0, bytes: 0)] + curve, curve).filter { $0.bytes < $1.bytes }.map(\.1.nanoseconds)
    }
    let times = [0] + arrivals.filter { (0..<duration).contains($0) }.sorted() + [duration]
    return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? duration
  }
}

import Coverage

/// The figures of a test, as ``SpeedTestRun`` returns them. A phase without figures failed on every connection; `failures` says
/// why.
public struct SpeedTestOutcome: Hashable, Sendable {
  /// The server's version, as it greets.
  public internal(set) var serverVersion = ""
  /// The version of TLS and the cipher, such as `TLSv1.3 (TLS_AES_256_GCM_SHA384)`; `nil` for plain TCP.
  public internal(set) var encryption: String?
  /// The pings of the one connection that sends them.
  public internal(set) var pings: [SpeedTestPing] = []
  /// The download of each thread that took part to its end, in points of the client's clock.
  var downloadCurves: [[Sample]] = []
  /// The upload of each thread that took part to its end, in points of the server's clock.
  var uploadCurves: [[Sample]] = []
  /// The curves of the connections that broke in the download or in the upload, up to their last points.
  var brokenDownloads: [[Sample]] = [], brokenUploads: [[Sample]] = []
  /// The start of the download, ns since the start of the test.
  var downloadBegan: Int64 = 0
  /// The start of the upload, ns since the start of the test.
  var uploadBegan: Int64 = 0
  /// The addresses of this device and of the server on the first connection; `nil` when the kernel gave none.
  var localAddress: String?, serverAddress: String?
  /// Bytes of all connections, pre-tests included, without those that TLS adds.
  public internal(set) var traffic = SpeedTestTraffic()
  /// Whether the pre-test found a link that is too slow for several connections.
  public internal(set) var fellBackToOne = false
  /// Why connections dropped out, in their order, and then which phases had no byte.
  public internal(set) var failures: [SpeedTestError] = []

  public init() {}

  /// The result of the download; `nil` when no connection received a byte, or all broke.
  public var download: Throughput? { Self.result(downloadCurves, broken: brokenDownloads) }
  /// The result of the upload; `nil` when the server reported none, or all connections broke.
  public var upload: Throughput? { Self.result(uploadCurves, broken: brokenUploads) }
  /// Whether ping, download and upload all have a figure above 0. Without them, a control server refuses the result (edge 36).
  public var isComplete: Bool {
    (pings.map(\.server).median ?? 0) > 0 && (download?.kilobitsPerSecond ?? 0) > 0
      && (upload?.kilobitsPerSecond ?? 0) > 0
  }

  /// Adds a failure for a phase without a byte: a connection that lasted to its end reports no error.
  mutating func noteSilence() {
    if Self.isSilent(downloadCurves, broken: brokenDownloads) {
      failures.append(.silence("the server sent no byte in the download"))
    }
    if Self.isSilent(uploadCurves, broken: brokenUploads) {
      failures.append(.silence("the server reported no received byte in the upload"))
    }
  }

  private static func isSilent(_ whole: [[Sample]], broken: [[Sample]]) -> Bool {
    !whole.isEmpty && (whole + broken).joined().allSatisfy { $0.bytes == 0 }
  }
}

extension SpeedTestOutcome {
  /// The figures for the store, the control server and exports: the rates, and the curves with fewer points.
  /// - Parameter plan: The plan of the test: it has the server, port and protocol.
  public func figures(_ plan: SpeedTestPlan) -> SpeedTestFigures {
    var figures = SpeedTestFigures(
      server: plan.host, port: plan.port, kind: plan.opening == .http ? "RMBThttp" : "RMBT")
    figures.serverVersion = serverVersion
    figures.encryption = encryption
    figures.localAddress = localAddress
    figures.serverAddress = serverAddress
    figures.download = Self.rate(downloadCurves, broken: brokenDownloads, began: downloadBegan, plan)
    figures.upload = Self.rate(uploadCurves, broken: brokenUploads, began: uploadBegan, plan)
    figures.pings = pings
    figures.fellBackToOne = fellBackToOne
    figures.traffic = traffic
    return figures
  }

  /// The result of one direction; `nil` when no connection entered the phase. It has no rate without a common end.
  /// - Parameter began: The start of the phase, ns since the start of the test.
  private static func rate(
    _ whole: [[Sample]], broken: [[Sample]], began: Int64, _ plan: SpeedTestPlan
  ) -> SpeedTestRate? {
    let curves = curves(whole, broken: broken)
    guard !curves.isEmpty else { return nil }
    let result = result(whole, broken: broken)
    let end = result?.nanoseconds
    return SpeedTestRate(
      kilobitsPerSecond: result?.kilobitsPerSecond, bytes: result?.bytes, nanoseconds: end, began: began,
      connections: curves.count,
      curves: curves.map { CurveThinning.thinned($0, around: end ?? 0).map { [$0.nanoseconds, $0.bytes] } },
      planned: plan.duration, silence: longestSilence(of: curves, in: plan.duration),
      broken: broken.count)
  }

  /// The bytes at the common end; `nil` when no connection has a point and lasted: there is no common end then.
  private static func result(_ whole: [[Sample]], broken: [[Sample]]) -> Throughput? {
    Throughput(threads: whole) == nil ? nil : Throughput(threads: curves(whole, broken: broken))
  }

  /// The curves that the rate follows from. A connection that broke does not set the common end (edge 29), but the link carried its bytes: it
  /// has no more until then.
  private static func curves(_ whole: [[Sample]], broken: [[Sample]]) -> [[Sample]] {
    guard let end = Throughput(threads: whole)?.nanoseconds else { return whole + broken }
    return whole
      + broken.map { curve in
        let last = curve.last ?? Sample(nanoseconds: 0, bytes: 0)
        return last.nanoseconds < end ? curve + [Sample(nanoseconds: end, bytes: last.bytes)] : curve
      }
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

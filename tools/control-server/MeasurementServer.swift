/// The measurement server that clients get, and the parameters of their tests.
struct MeasurementServer: Hashable, Sendable {
  var address: HostAndPort
  var type = MeasurementType.http
  var usesTLS = false
  var secret = "demo-secret"
  /// Seconds of each of the two main phases.
  var testDuration = 7
  /// Connections, unless the client asks for another number.
  var testThreads = 3
  /// Seconds that the client waits before it connects.
  var testWait = 0
}

/// The command-line options that the endpoints use.
struct ServerOptions: Sendable {
  /// Secrets of the ping server; tokens are made with the first one.
  var secrets: [String]
  var pingHost: String
  var pingHostIPv6: String
  var pingPort: Int
  var maxSessionSeconds: Int
  var maxMeasurementSeconds: Int
  var trustRealIP: Bool
  var acceptsGzip = false
  /// `nil`: there is no server for speed tests.
  var measurement: MeasurementServer?
  /// `nil`: there is no server for QoS tests.
  var qos: QoSPlaces?
}

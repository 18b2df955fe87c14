/// The servers of the lab that QoS tests use.
struct QoSPlaces: Hashable, Sendable {
  /// The QoS server's control connection.
  var server: HostAndPort
  /// A UDP port of the QoS server that is always open: calls go only to such a port.
  var callPort = 5060
  /// The first of five ports for the other tests, including tests on this device.
  var firstPort = 20_102
  /// The resolver of DNS tests: an address, with `:PORT` unless the port is 53.
  var resolver = "127.0.0.1"
}

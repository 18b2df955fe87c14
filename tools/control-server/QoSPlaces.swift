/// The servers of the lab that QoS tests use.
struct QoSPlaces: Hashable, Sendable {
  /// The QoS server's control connection.
  var server: HostAndPort
  /// A UDP port of the QoS server that is always open: calls go to such a port only.
  var callPort = 5060
  /// The first of five ports for the other tests; those on this device are among them.
  var firstPort = 20_102
  /// The resolver of DNS tests, as tests get it: an address, with `:PORT` for another port than 53.
  var resolver = "127.0.0.1"
}

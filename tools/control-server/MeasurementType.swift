import ArgumentParser

/// How a connection to the measurement server starts.
enum MeasurementType: String, Hashable, Sendable, CaseIterable, ExpressibleByArgument {
  /// The server speaks first.
  case native = "RMBT"
  /// The client asks for an HTTP upgrade.
  case http = "RMBThttp"
  /// WebSockets: today's server can name such a server to any client.
  case webSocket = "RMBTws"
  /// UDP pings: no speed test can run there, whatever the client does.
  case udp = "RMBTudp"
}

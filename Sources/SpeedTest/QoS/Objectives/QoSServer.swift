/// A QoS server: the name or address and the port of its control connection.
struct QoSServer: Hashable, Sendable {
  let host: String
  let port: UInt16

  /// `nil` when the parameters name no server.
  init?(_ parameters: QoSParameters) {
    guard let host = parameters.text("server_addr"), let port = parameters.port("server_port") else { return nil }
    (self.host, self.port) = (host, port)
  }
}

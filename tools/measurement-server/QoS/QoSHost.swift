/// The state that the control connections of a QoS server share.
final class QoSHost: Sendable {
  let address: String
  /// The secret of tokens; `nil`: every token is accepted, as by deployed servers.
  let secret: String?
  let faults: FaultState
  /// The UDP ports that are always open.
  let ports: [QoSDatagramPort]

  init(address: String, udpPorts: [UInt16], secret: String?, faults: FaultState) throws {
    (self.address, self.secret, self.faults) = (address, secret, faults)
    ports = try udpPorts.map { try QoSDatagramPort(address: address, port: $0, faults: faults) }
  }

  func shared(_ port: UInt16) -> QoSDatagramPort? { ports.first { $0.port == port } }
}

import Foundation
import TestSupport

@testable import SpeedTest

extension ScriptedServer {
  /// A control connection to this server.
  func connect() throws -> QTPConnection {
    let waiting = LoopbackPort.waiting()
    let socket = try Dialer(waiting: waiting).connect(LoopbackPort.address(port))
    return try QTPConnection(socket, token: try MeasurementToken("u_1_x"), waiting: waiting)
  }
}

extension ScriptedServer.Client {
  /// The number of the next command; empty without one.
  func id() -> String {
    let parts = text().components(separatedBy: " +ID")
    return parts.count == 2 ? parts[1] : ""
  }

  /// Opens as a QoS server does.
  func openQoS() {
    send("QoSSP0.1\nACCEPT [TOKEN string]\n")
    _ = text()
    send("OK\nACCEPT [TCPTEST|UDPTEST]\n")
  }
}

/// A command of QTP, the line protocol of QoS servers (docs/protocol.md, 8).
enum QTPCommand: Hashable, Sendable {
  /// The idle time in ms, 15,000 to 60,000, after which the server closes.
  case connectionTimeout(Int64)
  /// Asks for a UDP port of the server, which it chooses at random.
  case udpPort
  /// The server listens on the port, and sends the line of the client back.
  case tcpOut(port: UInt16)
  /// The server connects to the port of the client. No reply (edge 41).
  case tcpIn(port: UInt16)
  /// The server listens on the port for the line of a proxy test.
  case proxy(port: UInt16)
  /// The server answers the packets that arrive at its port.
  case udpOut(port: UInt16, packets: Int)
  /// The server sends packets to the port of the client. No reply (edge 41).
  case udpIn(port: UInt16, packets: Int)
  /// The server's count of the packets that it received (``UDPCount``).
  case udpResultOut(port: UInt16)
  /// The server's count of the answers to its packets, with round trips.
  case udpResultIn(port: UInt16)
  /// A call: `port` is the server's. The reply has the SSRC of both streams.
  case voip(VoIPCall, port: UInt16, clientPort: UInt16)
  /// The server's figures of the stream that it received; `source` is the SSRC as the server wrote it.
  case voipResult(source: String)
  case quit

  /// The line without the command's number.
  var text: String {
    switch self {
    case .connectionTimeout(let time): "REQUEST CONN TIMEOUT \(time)"
    case .udpPort: "GET UDPPORT"
    case .tcpOut(let port): "TCPTEST OUT \(port)"
    case .tcpIn(let port): "TCPTEST IN \(port)"
    case .proxy(let port): "NTPTEST \(port)"
    case .udpOut(let port, let packets): "UDPTEST OUT \(port) \(packets)"
    case .udpIn(let port, let packets): "UDPTEST IN \(port) \(packets)"
    case .udpResultOut(let port): "GET UDPRESULT OUT \(port)"
    case .udpResultIn(let port): "GET UDPRESULT IN \(port)"
    case .voip(let call, let port, let clientPort):
      // Objectives have ns; this command wants ms (edge 45), but for the buffer.
      "VOIPTEST \(port) \(clientPort) \(call.sampleRate) \(call.bitsPerSample) \(call.delay / 1_000_000) "
        + "\(call.duration / 1_000_000) \(call.firstSequence) \(call.payloadType) \(call.buffer)"
    case .voipResult(let source): "GET VOIPRESULT \(source)"
    case .quit: "QUIT"
    }
  }
}

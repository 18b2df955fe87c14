/// What a client asks of a QoS server (spec, section 8).
enum QTPCommand: Hashable, Sendable {
  /// The idle time after which the server closes, in ms.
  case connectionTimeout(Int64)
  case udpPort
  case tcpOut(port: UInt16)
  case tcpIn(port: UInt16)
  case proxy(port: UInt16)
  case udpOut(port: UInt16, packets: Int)
  case udpIn(port: UInt16, packets: Int)
  case udpResultOut(port: UInt16)
  case udpResultIn(port: UInt16)
  case voip(VoIPCall, port: UInt16, clientPort: UInt16)
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

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

/// A simulated call: an RTP stream in each direction with the same parameters. Times in ns; absent parameters have the values of
/// a call in PCMA: 8000 Hz, 8 bit, 20 ms, for 1 s.
struct VoIPCall: Hashable, Sendable {
  let sampleRate: Int64
  let bitsPerSample: Int64
  /// The time from packet to packet, in whole ms as in the command and in the time stamps.
  let delay: Int64
  let duration: Int64
  let payloadType: UInt8
  /// A longer gap is a stall.
  let buffer: Int64
  /// The sequence number of the first packet of both streams.
  let firstSequence: UInt16

  /// `nil` for parameters beyond the limits of servers, or packets that UDP cannot carry.
  init?(_ parameters: QoSParameters, firstSequence: UInt16) {
    sampleRate = parameters.number("sample_rate") ?? 8000
    bitsPerSample = parameters.number("bits_per_sample") ?? 8
    let wanted = parameters.number("delay") ?? 20_000_000
    delay = wanted / 1_000_000 * 1_000_000
    duration = parameters.number("call_duration") ?? 1_000_000_000
    buffer = parameters.time("buffer", standard: 100_000_000, in: 1_000_000...10_000_000_000)
    let type = parameters.number("payload") ?? 8
    self.firstSequence = firstSequence
    guard (1000...192_000).contains(sampleRate), (8...32).contains(bitsPerSample), (0...127).contains(type),
      (1_000_000...1_000_000_000).contains(wanted), (delay...30_000_000_000).contains(duration)
    else { return nil }
    payloadType = UInt8(type)
    guard packets <= 1000, (1...Self.largestPayload).contains(payloadSize) else { return nil }
  }

  /// Bytes; with the headers, a UDP packet over IPv4 holds at most 65,507.
  private static let largestPayload = 65_000

  /// Packets in each direction.
  var packets: Int { Int(duration / delay) }
  /// Ticks of the sample clock from packet to packet.
  var timestampStep: UInt32 { UInt32(sampleRate * (delay / 1_000_000) / 1000) }
  /// Bytes behind the header of a packet.
  var payloadSize: Int { Int(Int64(timestampStep) * bitsPerSample / 8) }
}

import Foundation
import OrderedJSON

/// A simulated call with the server, RTP in both directions at once.
struct VoIPTest: QoSTest {
  struct Finding: Sendable {
    /// The stream to the server, by the figures of the server.
    let out: RTPFigures
    /// The stream from the server, by the figures of this host.
    let back: RTPFigures
  }

  private let outPort: UInt16?
  private let inPort: UInt16?
  /// `nil` when servers would refuse the parameters.
  let call: VoIPCall?
  private let timeout: Int64
  let objective: [JSON.Member]

  init(_ parameters: QoSParameters, firstSequence: UInt16 = .random(in: 0...64_000)) {
    outPort = parameters.port("out_port")
    inPort = parameters.port("in_port")
    call = VoIPCall(parameters, firstSequence: firstSequence)
    timeout = parameters.time("timeout", standard: 3_000_000_000)
    objective =
      parameters.members("voip_objective_", "out_port")
      + [JSON.Member("voip_objective_in_port", parameters.json("in_port") ?? .null)]
      + parameters.members(
        "voip_objective_", "call_duration", "delay", "sample_rate", "bits_per_sample", "payload", "buffer")
  }

  var limit: Int64 { (call?.duration ?? 0) + timeout }

  func measure(_ context: QoSContext) throws(SpeedTestError) -> Finding {
    guard let control = context.control, let outPort, let call else {
      throw .protocolError("a VoIP test with parameters that no server accepts")
    }
    let deadline = min(context.waiting.deadline, context.now + limit)
    let socket = try DatagramSocket(
      on: control.local.with(port: inPort ?? 0), peer: control.peer.with(port: outPort), interface: context.interface,
      counter: context.traffic)
    let reply = try control.request(.voip(call, port: outPort, clientPort: socket.port), until: deadline)
    let words = reply.split(separator: " ")
    // The server's SSRC marks the stream in both directions (edge 43). Some servers write it with a sign.
    guard words.count == 2, words[0] == "OK", let number = Int64(words[1]),
      (Int64(Int32.min)...Int64(UInt32.max)).contains(number)
    else { throw .commandRefused("VOIPTEST") }
    let arrivals = try exchange(call, UInt32(truncatingIfNeeded: number), socket, context, until: deadline)
    // A call that the end of the run cut off has no figures: its missing packets would count as lost.
    try context.waiting.check()
    let answer = try control.request(.voipResult(source: String(words[1])), until: deadline + 1_000_000_000)
    guard let out = RTPFigures(reply: answer) else {
      throw .protocolError("\"\(answer.prefix(80))\" is no result of a call")
    }
    let statistics = RTPStatistics(
      firstSequence: call.firstSequence, sampleRate: call.sampleRate, buffer: call.buffer)
    return Finding(out: out, back: statistics.figures(arrivals))
  }

  /// Sends the call, and receives the server's, which our first packet starts.
  ///
  /// The sender has a thread: a wait for packets ends up to a millisecond late, which the server would take for jitter of the
  /// link.
  private func exchange(
    _ call: VoIPCall, _ source: UInt32, _ socket: DatagramSocket, _ context: QoSContext, until deadline: Int64
  ) throws(SpeedTestError) -> [RTPArrival] {
    let start = context.now
    let sending = DispatchGroup()
    sending.enter()
    Thread.detachNewThread {
      Self.send(call, source, socket, context.waiting, from: start)
      sending.leave()
    }
    // The thread ends with the whole test at the latest.
    defer { sending.wait() }
    return try receive(call, source, socket, context, sentBy: start + Int64(call.packets) * call.delay, until: deadline)
  }

  /// Sends the packets of the call, each at its time from `start` on. An abort or the deadline ends it.
  private static func send(
    _ call: VoIPCall, _ source: UInt32, _ socket: DatagramSocket, _ waiting: Waiting, from start: Int64
  ) {
    var generator = SystemRandomNumberGenerator()
    for index in 0..<call.packets {
      let packet = RTPPacket(
        isMarked: index == 0, payloadType: call.payloadType,
        sequence: call.firstSequence &+ UInt16(truncatingIfNeeded: index),
        timestamp: UInt32(truncatingIfNeeded: index) &* call.timestampStep, source: source)
      let bytes = packet.bytes(payload: (0..<call.payloadSize).map { _ in generator.next() })
      let wait = start + Int64(index) * call.delay - waiting.clock.now()
      if wait > 0 { Thread.sleep(forTimeInterval: Double(wait) / 1e9) }
      guard !waiting.clock.isAborted(), waiting.clock.now() < waiting.deadline else { return }
      socket.send(bytes)
    }
  }

  /// Receives the server's packets. Ends when all have come; else a second after the last one, but not before the call is sent,
  /// and at the latest at `deadline`.
  private func receive(
    _ call: VoIPCall, _ source: UInt32, _ socket: DatagramSocket, _ context: QoSContext, sentBy sent: Int64,
    until deadline: Int64
  ) throws(SpeedTestError) -> [RTPArrival] {
    var (arrivals, seen) = ([RTPArrival](), Set<UInt16>())
    var end = min(deadline, sent + 1_000_000_000)
    while context.now < end, seen.count < call.packets {
      guard try context.waiting.wait(on: socket.descriptor, for: Int16(POLLIN), until: end) else { continue }
      for (bytes, _) in socket.receiveSome() {
        let time = context.now
        // No link duplicates this often: ignore more than four times the call.
        guard let packet = RTPPacket(bytes), packet.source == source, arrivals.count < 4 * call.packets else {
          continue
        }
        arrivals.append(RTPArrival(sequence: packet.sequence, timestamp: packet.timestamp, time: time))
        seen.insert(packet.sequence)
        end = min(deadline, max(sent, time) + 1_000_000_000)
      }
    }
    return arrivals
  }

  func members(_ finding: Finding) -> [JSON.Member] {
    JSON.members(["voip_result_status": .string(status(finding).rawValue)])
      + Self.members("voip_result_out_", finding.out) + Self.members("voip_result_in_", finding.back)
  }

  /// The members of one direction. Figures that the server does not count are left out.
  private static func members(_ prefix: String, _ figures: RTPFigures) -> [JSON.Member] {
    let values: [(String, Int64?)] = [
      ("max_jitter", figures.maximumJitter), ("mean_jitter", figures.meanJitter),
      ("max_delta", figures.maximumDelta), ("skew", figures.skew), ("num_packets", figures.packets),
      ("sequence_error", figures.sequenceErrors), ("short_seq", figures.shortestRun),
      ("long_seq", figures.longestRun), ("stalls", figures.stalls),
      ("avg_stall_time", figures.meanStallMilliseconds),
    ]
    return values.compactMap { name, value in value.map { JSON.Member(prefix + name, .integer($0)) } }
  }

  func members(without reason: QoSStatus) -> [JSON.Member] {
    JSON.members(["voip_result_status": .string(reason.rawValue)])
  }

  func status(_ finding: Finding) -> QoSStatus {
    finding.back.packets == 0 || finding.out.packets == 0 ? .timeout : .ok
  }
}

/// The header of an RTP packet (RFC 3550, 5.1); ``bytes(payload:)`` adds the payload.
struct RTPPacket: Hashable, Sendable {
  /// The marker bit: set in the first packet of a call.
  var isMarked = false
  let payloadType: UInt8
  let sequence: UInt16
  /// Ticks of the sample clock.
  let timestamp: UInt32
  /// SSRC.
  let source: UInt32

  static let headerLength = 12
}

extension RTPPacket {
  /// `nil` for a packet that is too short, or of another version.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.headerLength, bytes[0] >> 6 == 2 else { return nil }
    isMarked = bytes[1] & 0x80 != 0
    payloadType = bytes[1] & 0x7F
    sequence = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    timestamp = bytes[4..<8].reduce(0) { $0 << 8 | UInt32($1) }
    source = bytes[8..<12].reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The whole packet: version 2, without padding, extension or contributing sources.
  func bytes(payload: [UInt8]) -> [UInt8] {
    [0x80, (isMarked ? 0x80 : 0) | payloadType & 0x7F, UInt8(sequence >> 8), UInt8(sequence & 0xFF)]
      + withUnsafeBytes(of: timestamp.bigEndian) { Array($0) } + withUnsafeBytes(of: source.bigEndian) { Array($0) }
      + payload
  }
}

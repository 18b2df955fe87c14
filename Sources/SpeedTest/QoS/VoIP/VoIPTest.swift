import Foundation
import OrderedJSON

/// A simulated call with the server, RTP in both directions at once.
struct VoIPTest: QoSTest {
  struct Finding: Sendable {
    /// What the server received.
    let out: RTPFigures
    /// What we received.
    let back: RTPFigures
  }

  private let outPort: UInt16?
  private let inPort: UInt16?
  let call: VoIPCall?
  private let timeout: Int64
  let objective: [JSON.Member]

  init(_ parameters: QoSParameters, firstSequence: UInt16 = .random(in: 0 ... .max)) {
    outPort = parameters.port("out_port")
    inPort = parameters.port("in_port")
    call = VoIPCall(parameters, firstSequence: firstSequence)
    timeout = parameters.time("timeout", standard: 3_000_000_000)
    objective = JSON.members([
      "voip_objective_out_port": parameters.json("out_port"),
      "voip_objective_in_port": parameters.json("in_port") ?? .null,
      "voip_objective_call_duration": parameters.json("call_duration"),
      "voip_objective_delay": parameters.json("delay"),
      "voip_objective_sample_rate": parameters.json("sample_rate"),
      "voip_objective_bits_per_sample": parameters.json("bits_per_sample"),
      "voip_objective_payload": parameters.json("payload"), "voip_objective_buffer": parameters.json("buffer"),
    ])
  }

  var limit: Int64 { (call?.duration ?? 0) + timeout }

  func measure(_ context: QoSContext) throws(SpeedTestError) -> Finding {
    guard let control = context.control, let outPort, let call else {
      throw .protocolError("a VoIP test with parameters that no server accepts")
    }
    let deadline = min(context.waiting.deadline, context.now + limit)
    let socket = try DatagramSocket(
      on: control.local.with(port: inPort ?? 0), peer: control.peer.with(port: outPort))
    let reply = try control.request(.voip(call, port: outPort, clientPort: socket.port), until: deadline)
    let words = reply.split(separator: " ")
    // The server's SSRC marks the stream in both directions (edge 43). Some servers write it with a sign.
    guard words.count == 2, words[0] == "OK", let number = Int64(words[1]),
      (Int64(Int32.min)...Int64(UInt32.max)).contains(number)
    else { throw .commandRefused("VOIPTEST") }
    let arrivals = try exchange(call, UInt32(truncatingIfNeeded: number), socket, context, until: deadline)
    let answer = try control.request(.voipResult(source: String(words[1])), until: deadline + 1_000_000_000)
    guard let out = RTPFigures(reply: answer) else {
      throw .protocolError("\"\(answer.prefix(80))\" is no result of a call")
    }
    let statistics = RTPStatistics(
      firstSequence: call.firstSequence, sampleRate: call.sampleRate, buffer: call.buffer)
    return Finding(out: out, back: statistics.figures(arrivals))
  }

  /// Sends the call, and receives the server's, which our first packet starts.
  private func exchange(
    _ call: VoIPCall, _ source: UInt32, _ socket: DatagramSocket, _ context: QoSContext, until deadline: Int64
  ) throws(SpeedTestError) -> [RTPArrival] {
    var generator = SystemRandomNumberGenerator()
    var arrivals: [RTPArrival] = []
    var (sent, seen) = (0, Set<UInt16>())
    let start = context.now
    var end = min(deadline, start + call.duration + timeout)
    while context.now < end, sent < call.packets || seen.count < call.packets {
      if sent < call.packets, context.now >= start + Int64(sent) * call.delay {
        let packet = RTPPacket(
          isMarked: sent == 0, payloadType: call.payloadType,
          sequence: call.firstSequence &+ UInt16(truncatingIfNeeded: sent),
          timestamp: UInt32(truncatingIfNeeded: sent) &* call.timestampStep, source: source)
        socket.send(packet.bytes(payload: (0..<call.payloadSize).map { _ in generator.next() }))
        sent += 1
        // The server's last packets come as late as its first one did; a second without any is the end.
        if sent == call.packets { end = min(end, context.now + 1_000_000_000) }
      }
      let next = sent < call.packets ? start + Int64(sent) * call.delay : end
      guard try context.waiting.wait(on: socket.descriptor, for: Int16(POLLIN), until: min(next, end)) else { continue }
      while let (bytes, _) = socket.receive() {
        let time = context.now
        guard let packet = RTPPacket(bytes), packet.source == source, arrivals.count < 4 * call.packets else {
          continue
        }
        arrivals.append(RTPArrival(sequence: packet.sequence, timestamp: packet.timestamp, time: time))
        seen.insert(packet.sequence)
        if sent == call.packets { end = min(deadline, time + 1_000_000_000) }
      }
    }
    return arrivals
  }

  func members(_ finding: Finding) -> [JSON.Member] {
    JSON.members(["voip_result_status": .string(status(finding).rawValue)])
      + Self.members("voip_result_out_", finding.out) + Self.members("voip_result_in_", finding.back)
  }

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

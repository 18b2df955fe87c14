import Foundation
import OrderedJSON

/// Loss and round trips of UDP packets to the server (out) and from it (in, `back`). A direction without a number of packets in
/// the objective is not tested.
struct UDPTest: QoSTest {
  struct Finding: Sendable {
    var out: UDPFigures?
    var back: UDPFigures?
  }

  private let outPort: UInt16?
  private let inPort: UInt16?
  let outPackets: Int?
  let inPackets: Int?
  /// ns between two packets of this host, 1 ms to 1 s.
  let delay: Int64
  private let timeout: Int64
  let objective: [JSON.Member]

  init(_ parameters: QoSParameters) {
    outPort = parameters.port("out_port")
    inPort = parameters.port("in_port")
    // More than 1000 packets are refused by servers.
    outPackets = parameters.number("out_num_packets", in: 1 ... .max).map { Int(min($0, 1000)) }
    inPackets = parameters.number("in_num_packets", in: 1 ... .max).map { Int(min($0, 1000)) }
    timeout = parameters.time("timeout", standard: 5_000_000_000)
    // The reference's delay, or a shorter one with which all packets leave within the timeout: the reference stops sending then.
    let standard = min(300_000_000, timeout / Int64(outPackets ?? 1))
    delay = parameters.time("delay", standard: standard, in: 1_000_000...1_000_000_000)
    objective = parameters.members(
      "udp_objective_", "out_port", "out_num_packets", "in_port", "in_num_packets", "delay", "timeout")
  }

  /// ns between two packets of the server (docs/protocol.md, 8).
  private static let serverDelay: Int64 = 100_000_000

  /// ns: for each direction, the time in which its packets are sent, and the timeout of the objective.
  var limit: Int64 { (outPackets.map(outLimit) ?? 0) + (inPackets.map(inLimit) ?? 0) }
  private func outLimit(_ packets: Int) -> Int64 { Int64(packets) * delay + timeout }
  private func inLimit(_ packets: Int) -> Int64 { Int64(packets) * Self.serverDelay + timeout }

  func measure(_ context: QoSContext) throws(SpeedTestError) -> Finding {
    guard let control = context.control, outPackets != nil || inPackets != nil else {
      throw .protocolError("a UDP test without packets")
    }
    var finding = Finding()
    var failure: SpeedTestError?
    do throws(SpeedTestError) {
      if let outPackets { finding.out = try out(outPackets, control, context) }
    } catch {
      failure = error
    }
    do throws(SpeedTestError) {
      if let inPackets { finding.back = try back(inPackets, control, context) }
    } catch {
      failure = failure ?? error
    }
    if let failure, finding.out == nil, finding.back == nil { throw failure }
    // If only one direction failed, it reports 0 packets.
    return Finding(out: finding.out ?? nothing.out, back: finding.back ?? nothing.back)
  }

  /// Sends packets and collects the answers. The server's count of the packets is the result, so packets and answers that were
  /// lost can be told apart.
  private func out(_ packets: Int, _ control: QTPConnection, _ context: QoSContext) throws(SpeedTestError)
    -> UDPFigures
  {
    let deadline = min(context.waiting.deadline, context.now + outLimit(packets))
    let port = try port(control, deadline)
    let socket = try DatagramSocket(
      on: control.local.with(port: 0), peer: control.peer.with(port: port), interface: context.interface,
      counter: context.traffic)
    guard try control.request(.udpOut(port: port, packets: packets), until: deadline) == "OK" else {
      throw .commandRefused("UDPTEST OUT")
    }
    let uuid = UDPProbe.uuid(of: context.token)
    var answers = UDPAnswers()
    let start = context.now
    // After the last packet, answers are awaited for the timeout, but 1.5 s at most.
    let end = min(deadline, start + Int64(packets) * delay + min(timeout, 1_500_000_000))
    while context.now < end, answers.count < packets || !answers.isComplete {
      let due = start + Int64(answers.count) * delay
      if answers.count < packets, context.now >= due {
        let probe = UDPProbe(flag: .answerWanted, number: answers.nextNumber, uuid: uuid, time: context.now)
        answers.send(at: probe.time)
        socket.send(probe.bytes)
      }
      let next = answers.count < packets ? start + Int64(answers.count) * delay : end
      _ = try context.waiting.wait(on: socket.descriptor, for: Int16(POLLIN), until: min(next, end))
      for (bytes, _) in socket.receiveSome() {
        if let answer = UDPProbe(bytes), answer.flag == .answer, answer.uuid == uuid {
          answers.answer(answer.number, at: context.now)
        }
      }
    }
    // Packets that the end of the run kept back would count as lost.
    try context.waiting.check()
    let count = try count(.udpResultOut(port: port), control, deadline + 1_000_000_000)
    // The server counts numbers of one byte, 256 at most. A packet with an answer has arrived.
    let answered = Int64(answers.roundTrips.count)
    return UDPFigures(
      received: max(count.received, answered), answered: answered, wanted: Int64(packets),
      roundTrips: Dictionary(uniqueKeysWithValues: answers.roundTrips.map { (Int64($0.key), $0.value) }))
  }

  /// The objective's port, or one that the server names.
  private func port(_ control: QTPConnection, _ deadline: Int64) throws(SpeedTestError) -> UInt16 {
    if let outPort { return outPort }
    let reply = try control.request(.udpPort, until: deadline)
    guard let port = UInt16(reply), port > 0 else { throw .protocolError("\"\(reply)\" is no UDP port") }
    return port
  }

  /// Asks for the server's count, until `limit` of the clock.
  private func count(_ command: QTPCommand, _ control: QTPConnection, _ limit: Int64) throws(SpeedTestError)
    -> UDPCount
  {
    let reply = try control.request(command, until: limit)
    guard let count = UDPCount(reply) else { throw .protocolError("\"\(reply.prefix(80))\" is no count of packets") }
    return count
  }

  /// The server sends packets, and this host answers each one. The command has no reply, and the port is bound before the command
  /// leaves (docs/protocol.md, edges 41 and 42). Packets from other hosts or with another uuid are ignored.
  private func back(_ packets: Int, _ control: QTPConnection, _ context: QoSContext) throws(SpeedTestError)
    -> UDPFigures
  {
    let deadline = min(context.waiting.deadline, context.now + inLimit(packets))
    let socket = try DatagramSocket(
      on: control.local.with(port: inPort ?? 0), interface: context.interface, counter: context.traffic)
    try control.order(.udpIn(port: socket.port, packets: packets))
    let uuid = UDPProbe.uuid(of: context.token)
    let server = control.peer.with(port: 0)
    var arrivals = UDPArrivals()
    while arrivals.count < packets, context.now < deadline {
      _ = try context.waiting.wait(on: socket.descriptor, for: Int16(POLLIN), until: deadline)
      for (bytes, from) in socket.receiveSome() {
        guard from.with(port: 0) == server, var probe = UDPProbe(bytes), probe.uuid == uuid, probe.flag != .answer
        else { continue }
        arrivals.arrive(probe.number)
        guard probe.flag == .answerWanted else { continue }
        probe.flag = .answer
        socket.send(probe.bytes, to: from)
      }
    }
    try context.waiting.check()
    let figures = UDPFigures(received: Int64(arrivals.count), answered: nil, wanted: Int64(packets))
    return try counted(figures, by: control, port: socket.port, from: context)
  }

  /// The server's count of the answers. The last one can still be under way to it, so the request is repeated for up to 1 s.
  private func counted(
    _ figures: UDPFigures, by control: QTPConnection, port: UInt16, from context: QoSContext
  ) throws(SpeedTestError) -> UDPFigures {
    var figures = figures
    let limit = context.now + 1_000_000_000
    while true {
      let count: UDPCount
      do {
        count = try self.count(.udpResultIn(port: port), control, limit + 1_000_000_000)
      } catch .aborted {
        throw .aborted
      } catch {
        // This host counted the packets: they stand without the server's count of the answers.
        guard figures.received > 0 else { throw error }
        return figures
      }
      (figures.answered, figures.roundTrips) = (count.received, count.roundTrips)
      guard count.received < figures.received, context.now < limit else { return figures }
      Thread.sleep(forTimeInterval: 0.05)
    }
  }

  func members(_ finding: Finding) -> [JSON.Member] {
    JSON.members([
      "udp_result_out_num_packets": finding.out.map { .integer($0.received) },
      "udp_result_out_response_num_packets": finding.out?.answered.map(JSON.integer),
      "udp_result_out_packet_loss_rate": finding.out.map { .string("\($0.lossPercent)") },
      "udp_result_out_rtts_ns": finding.out.map { .string($0.roundTripText) },
      "udp_result_out_rtt_avg_ns": finding.out?.meanRoundTrip.map(JSON.integer),
      "udp_result_in_num_packets": finding.back.map { .integer($0.received) },
      "udp_result_in_response_num_packets": finding.back?.answered.map(JSON.integer),
      "udp_result_in_packet_loss_rate": finding.back.map { .string("\($0.lossPercent)") },
      "udp_result_in_rtt_avg_ns": finding.back?.meanRoundTrip.map(JSON.integer),
    ])
  }

  /// No packet arrived: the wire has no status for this test.
  func members(without reason: QoSStatus) -> [JSON.Member] { members(nothing) }

  /// The finding of a test without a packet in any direction that it has.
  private var nothing: Finding {
    Finding(
      out: outPackets.map { UDPFigures(wanted: Int64($0)) }, back: inPackets.map { UDPFigures(wanted: Int64($0)) })
  }

  func status(_ finding: Finding) -> QoSStatus {
    [finding.out, finding.back].contains { $0?.received == 0 } ? .timeout : .ok
  }
}

/// The packets of the server that arrived here, as a value.
struct UDPArrivals: Hashable, Sendable {
  /// Indexes of packets, which go on beyond 255.
  private var seen: Set<Int> = []
  private var newest = 0

  /// The number of different packets.
  var count: Int { seen.count }

  /// A packet. Its number is one byte: it stands for the index with this low byte that is nearest to the newest one.
  mutating func arrive(_ number: UInt8) {
    let step = Int(Int8(bitPattern: number &- UInt8(truncatingIfNeeded: newest)))
    // No index is below 0: a high number at the start is a packet after lost ones.
    let index = newest + step < 0 ? newest + step + 256 : newest + step
    newest = max(newest, index)
    seen.insert(index)
  }
}

/// The figures of one direction of the UDP test, whichever side counted them.
struct UDPFigures: Hashable, Sendable {
  /// Packets that the receiver counted: the server for out, this host for in.
  var received: Int64 = 0
  /// Answers that the sender counted: this host for out, the server for in. `nil`: the server gave no count.
  var answered: Int64? = 0
  /// Packets that the objective asks for.
  var wanted: Int64
  /// Round trips in ns by packet.
  var roundTrips: [Int64: Int64] = [:]

  /// Whole percents of packets that did not arrive, rounded up: 0 only when all arrived.
  var lossPercent: Int64 {
    guard wanted > 0 else { return 0 }
    let lost = max(0, wanted - min(max(received, 0), wanted))
    return (lost * 100 + wanted - 1) / wanted
  }

  var meanRoundTrip: Int64? { UDPCount.mean(roundTrips.values) }

  /// The round trips as the reference client writes them: `{0=18515782, 1=6708263}`.
  var roundTripText: String {
    "{" + roundTrips.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ", ") + "}"
  }
}

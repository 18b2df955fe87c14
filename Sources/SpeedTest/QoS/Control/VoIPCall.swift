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

import Coverage
import Foundation

@testable import SpeedTest
@testable import Submission

/// The bytes of a measurement server, of a QoS server and of a resolver. The first line names their kind.
enum MeasurementServers: FuzzTarget {
  static var seeds: [[UInt8]] { texts.map { Array($0.utf8) } + [address, packets] }

  private static let texts: [String] = [
    """
    rmbt
    RMBTv1.3.5
    ACCEPT TOKEN QUIT
    OK
    CHUNKSIZE 4096 4096 4194304
    ACCEPT GETCHUNKS GETTIME PUT PUTNORESULT PING QUIT
    PONG
    TIME 30000000
    ACCEPT GETCHUNKS GETTIME PUT PUTNORESULT PING QUIT
    TIME 7000000000
    ACCEPT GETCHUNKS GETTIME PUT PUTNORESULT PING QUIT
    OK
    TIME 1000000 BYTES 4096
    TIME 3000000000 BYTES 9000000
    TIME 7000000000
    ACCEPT GETCHUNKS GETTIME PUT PUTNORESULT PING QUIT
    BYE

    """,
    "rmbt\nHTTP/1.1 101 Switching Protocols\r\nUpgrade: RMBT\r\n\r\n\0RMBTv1.3.5\nACCEPT TOKEN QUIT\nERR\n",
    "rmbt\nRMBTv0.3\nACCEPT TOKEN QUIT\nOK\nCHUNKSIZE 1024\nACCEPT GETCHUNKS GETTIME PUT PING QUIT\nERR\n",
    "qtp\nOK 3 +ID1\nRCV 10 0 {\"0\":31000000,\"1\":32000000} +ID2\nVOIPRESULT 1 2 3 4 50 0 50 50 0 0 +ID3\n10218\n",
    """
    qos
    {"objectives":{"udp":[{"qos_test_uid":"1","concurrency_group":"200","server_addr":"127.0.0.1",\
    "server_port":"5233","out_port":"10000","out_num_packets":"10","in_num_packets":"10",\
    "delay":"300000000","timeout":"5000000000"}],\
    "voip":[{"qos_test_uid":2,"out_port":"10001","call_duration":"2000000000","delay":"20000000",\
    "sample_rate":"8000","bits_per_sample":"8","payload":"8","buffer":"100000000"}],\
    "dns":[{"qos_test_uid":3,"host":"a.example","record":"A"}],\
    "traceroute":[{"qos_test_uid":4,"host":"127.0.0.1","max_hops":"20"}]},"error":[]}
    """,
    """
    grant
    {"test_uuid":"T1","open_test_uuid":"O1","loop_uuid":"L1","test_token":"t_1_x","test_server_address":"127.0.0.1",\
    "test_server_port":"5231","test_server_type":"RMBThttp","test_duration":"7",\
    "test_numthreads":"3","test_numpings":"10",\
    "test_wait":"0","test_server_encryption":false,"client_remote_ip":"127.0.0.1","error":[]}
    """,
  ]

  /// A resolver's answer with one address.
  private static let address: [UInt8] =
    Array("dns\n".utf8) + question + [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]

  /// Eight packets of a call, all at the same time.
  private static var packets: [UInt8] {
    (0..<8).reduce(into: Array("rtp\n".utf8)) { bytes, number in
      let header: [UInt8] = [0x80, 8, 0, UInt8(number), 0, 0, UInt8(number), 160, 0, 0, 0, 1]
      bytes += header
      bytes += [UInt8](repeating: 0, count: 8)
    }
  }

  /// A resolver's answer up to its one record: the number 1, the question a.example.
  private static let question: [UInt8] =
    [0, 1, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0x61, 7] as [UInt8] + Array("example".utf8) + [0, 0, 1, 0, 1]
    as [UInt8]

  static let words = [
    "RMBTv1.6.0", "ACCEPT ", "TOKEN", "GETCHUNKS", "GETTIME", "PUT", "PUTNORESULT", "PING", "QUIT", "OK", "ERR", "PONG",
    "BYE", "CHUNKSIZE ", "TIME ", " BYTES ", "9007199254740992", "9223372036854775807", " +ID1", "RCV ", "VOIPRESULT ",
    "\"objectives\":", "\"timeout\":", "\"delay\":", "\"call_duration\":", "\"sample_rate\":", "\"max_hops\":",
    "\"test_duration\":", "\"test_numthreads\":", "\"test_wait\":", "\u{C0}\u{0C}", "\r\n\r\n", "\n",
  ]

  static func run(_ input: [UInt8]) {
    let end = input.firstIndex(of: 0x0A) ?? input.endIndex
    let rest = Array(input[end...].dropFirst())
    switch String(decoding: input[..<end], as: UTF8.self) {
    case "qtp": read(qtp: rest)
    case "qos": read(objectives: Data(rest))
    case "grant": _ = try? SpeedTestAnswer(Data(rest))
    case "dns": read(dns: rest)
    case "rtp": read(rtp: rest)
    default: try? converse(rest)
    }
  }

  // MARK: Measurement server

  /// A client that writes all commands in turn, and makes a result of its curves.
  private static func converse(_ bytes: [UInt8]) throws {
    var generator = SystemRandomNumberGenerator()
    var (lines, conversation, curve, pings) = (LineBuffer(), Conversation(), SampleSeries(), [Int64]())
    lines.append(bytes)
    if !bytes.starts(with: Array("RMBTv".utf8)), let head = try lines.head() { try Upgrade.check(head) }
    var pending: [ClientCommand] = [
      .token(try MeasurementToken("t_1_x")), .ping, .getTime(seconds: 7, size: 4096), .put(size: 4096), .quit,
    ]
    var preTest: PreTest?
    defer { _ = Throughput(threads: [curve.samples, [Sample(nanoseconds: 7, bytes: 9)]])?.kilobitsPerSecond }
    while true {
      if conversation.stage == .greeting { lines.skipBlanks() }
      try write(&conversation, &pending)
      guard let text = try lines.next() else { return }
      let line = try ServerLine(text)
      try conversation.read(line)
      if let sizes = conversation.sizes, preTest == nil {
        preTest = PreTest(duration: 2_000_000_000, sizes: sizes)
        // Larger chunks only take longer.
        let size = sizes.clamped(1)
        if size <= 65_536 { _ = ChunkWriter(size: size, generator: &generator) }
      }
      guard case .time(let time, let count) = line else { continue }
      curve.append(Sample(nanoseconds: time, bytes: count ?? 1 << 40))
      pings.append(time)
      preTest?.done(time: time)
      _ = (preTest?.chunkSize(), pings.median, PingEnd().isReached(by: pings.count, elapsed: time))
    }
  }

  private static func write(_ conversation: inout Conversation, _ pending: inout [ClientCommand]) throws {
    switch conversation.stage {
    case .mayCommand where !pending.isEmpty: _ = try conversation.write(pending.removeFirst())
    case .mustAcknowledge: _ = try conversation.acknowledge()
    case .chunks(let command) where command.isDownload:
      try conversation.chunksEnded()
      _ = try conversation.acknowledge()
    default: break
    }
  }

  // MARK: QoS

  private static func read(qtp bytes: [UInt8]) {
    var replies = QTPReplies()
    let numbers = (0..<4).map { _ in replies.issue() }
    for line in bytes.split(separator: 0x0A) { replies.read(QTPLine(String(decoding: line, as: UTF8.self))) }
    for text in numbers.compactMap({ replies.removeReply(to: $0) }) {
      if let count = UDPCount(text) { _ = UDPCount.mean(count.roundTrips.values) }
      _ = RTPFigures(reply: text)
    }
  }

  private static func read(objectives body: Data) {
    guard let objectives = try? QoSObjectives(body) else { return }
    for objective in objectives.groups.joined() {
      let test = QoSTestList.test(objective)
      _ = (test.limit, test.failed(.timeout).members.map(\.value.text), objective.server)
    }
  }

  private static func read(dns message: [UInt8]) {
    for type in [DNSRecordType.a, .aaaa, .cname, .mx, .txt] {
      guard let query = DNSQuery("a.example", type, id: 1) else { continue }
      _ = DNSAnswer(message, to: query)?.entries
    }
  }

  /// Packets of 20 bytes: an RTP header, and the time of arrival.
  private static func read(rtp bytes: [UInt8]) {
    let arrivals = stride(from: 0, to: bytes.count - 19, by: 20).compactMap { start -> RTPArrival? in
      let time = bytes[(start + 12)..<(start + 20)].reduce(Int64(0)) { $0 << 8 | Int64($1) }
      return RTPPacket(Array(bytes[start..<(start + 12)])).map {
        RTPArrival(sequence: $0.sequence, timestamp: $0.timestamp, time: time)
      }
    }
    _ = RTPStatistics(firstSequence: 0, sampleRate: 8000, buffer: 100_000_000).figures(arrivals)
  }
}

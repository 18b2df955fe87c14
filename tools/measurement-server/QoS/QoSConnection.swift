import CLibssl
import Foundation

/// One control connection in the server's role. Replies carry the number of their command, and come when they are ready.
final class QoSConnection: @unchecked Sendable {
  private let lines: QoSLines
  private let number: Int
  private let host: QoSHost
  private let client: sockaddr_in
  private var uuid: [UInt8] = []
  private var idle = 15_000
  private var opened = 0
  /// Used only by the connection's own thread.
  private var ports: [UInt16: QoSDatagramPort] = [:]
  private var outgoing: [UInt16: QoSTally] = [:]
  private var incoming: [UInt16: QoSTally] = [:]
  private var calls: [UInt32: QoSCall] = [:]

  private static let list =
    "ACCEPT [GET UDPPORT|GET UDPPORTS|GET UDPRESULT|GET VOIPRESULT|NTPTEST|QUIT|REQUEST CONN TIMEOUT|TCPTEST|UDPTEST|VOIPTEST]"
  private static let mostPorts = 20

  init(_ lines: QoSLines, number: Int, host: QoSHost) {
    (self.lines, self.number, self.host) = (lines, number, host)
    client = SocketAddress.peerAddress(of: lines.descriptor)
  }

  func close() { ports.values.forEach { $0.close() } }

  func run() throws {
    try lines.write("QoSSP0.1")
    try lines.write("ACCEPT [TOKEN string]")
    let words = try lines.next(idle: idle).split(separator: " ").map(String.init)
    guard words.count == 2, words[0] == "TOKEN" else { return }
    if let secret = host.secret,
      !TokenCheck.isGoodForQoS(words[1], secret: secret, now: Int64(time(nil)))
    {
      Journal.line("QoS \(number): token refused")
      return try lines.write("ERR")
    }
    let part = Array(words[1].utf8.prefix { $0 != UInt8(ascii: "_") }.prefix(36))
    uuid = part + [UInt8](repeating: UInt8(ascii: "0"), count: 36 - part.count)
    try lines.write("OK")
    try lines.write(Self.list)
    while try handle(try lines.next(idle: idle)) {}
  }

  /// - Returns: Whether the connection continues.
  private func handle(_ line: String) throws -> Bool {
    Journal.line("QoS \(number): \(line)")
    guard !host.faults.has(.silent) else { return true }
    let parts = line.components(separatedBy: " +ID")
    let suffix = parts.count == 2 ? " +ID" + parts[1] : ""
    guard let command = QoSCommand(parts[0]) else {
      try lines.write(Self.list + suffix)
      return false
    }
    if command == .quit { return false }
    if let reply = try reply(command, isAsynchronous: parts.count == 2) { try lines.write(reply + suffix) }
    return true
  }

  private func reply(_ command: QoSCommand, isAsynchronous: Bool) throws -> String? {
    switch command {
    case .connectionTimeout(let time):
      idle = time
      return "OK"
    case .illegal(let value): return "ERR ILLARG \(value)"
    case .udpPorts: return "\(udpPorts.min() ?? 0) \(udpPorts.max() ?? 0)"
    case .udpPort: return udpPorts.randomElement().map(String.init) ?? "ERR"
    case .tcpOut(let port): return echo(on: port) { $0 }
    case .proxy(let port): return echo(on: port) { [host] in host.faults.has(.rewrite) ? "\($0) HTTP/1.1" : $0 }
    case .tcpIn(let port): return greet(port)
    case .udpOut(let port, let count): return receive(on: port, count)
    case .udpIn(let port, let count): return try ask(port, count, isAsynchronous: isAsynchronous)
    case .udpResultOut(let port): return outgoing[port]?.result ?? "RCV 0 0 {}"
    case .udpResultIn(let port): return incoming[port]?.result ?? "RCV 0 0 {}"
    case .voip(let order): return begin(order)
    case .voipResult(let source): return calls[source]?.result ?? "ERR ILLARG \(source)"
    case .quit: return nil
    }
  }

  private var udpPorts: [UInt16] { host.ports.map(\.port) }

  private func mayOpen() -> Bool {
    opened += 1
    return opened <= Self.mostPorts
  }

  // MARK: TCP

  /// Listens for one connection, and sends its line back, changed by `answer`.
  private func echo(on port: UInt16, _ answer: @escaping @Sendable (String) -> String) -> String {
    guard mayOpen(), let listener = try? Listener(address: host.address, port: port) else { return "ERR" }
    Thread.detachNewThread {
      defer { listener.close() }
      guard let descriptor = listener.accept(within: 15_000),
        let stream = try? PeerStream(descriptor: descriptor, tls: nil)
      else { return }
      if let line = try? stream.line() { try? stream.write(answer(line) + "\n") }
    }
    return "OK"
  }

  /// Connects to the client. There is no reply.
  private func greet(_ port: UInt16) -> String? {
    var peer = client
    peer.sin_port = port.bigEndian
    let address = peer
    Thread.detachNewThread {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      guard let stream = try? PeerStream(descriptor: descriptor, tls: nil),
        SocketAddress.call(address, { Int(connect(descriptor, $0, $1)) }) == 0
      else { return }
      try? stream.write("HELLO TO \(port)\n")
    }
    return nil
  }

  // MARK: UDP

  private func open(_ port: UInt16) -> QoSDatagramPort? {
    if let open = host.shared(port) ?? ports[port] { return open }
    guard mayOpen(), let own = try? QoSDatagramPort(address: host.address, port: port, faults: host.faults) else {
      return nil
    }
    ports[port] = own
    Thread.detachNewThread { own.run() }
    return own
  }

  private func receive(on port: UInt16, _ count: Int) -> String {
    guard let socket = open(port) else { return "ERR" }
    let tally = QoSTally(client: client.sin_addr.s_addr, uuid: uuid, wanted: count)
    outgoing[port] = tally
    socket.add(tally)
    return "OK"
  }

  /// Without a number of the command, the connection waits until the test is over.
  private func ask(_ port: UInt16, _ count: Int, isAsynchronous: Bool) throws -> String? {
    guard mayOpen(), let socket = try? QoSDatagramPort(address: host.address, port: 0, faults: host.faults) else {
      return "ERR"
    }
    var peer = client
    peer.sin_port = port.bigEndian
    let (tally, address) = (QoSTally(client: peer.sin_addr.s_addr, uuid: uuid, wanted: count), peer)
    incoming[port] = tally
    guard isAsynchronous else {
      socket.ask(tally, at: address)
      return tally.result
    }
    Thread.detachNewThread { socket.ask(tally, at: address) }
    return nil
  }

  // MARK: VoIP

  /// Calls go to the ports that are always open (edge 43).
  private func begin(_ order: QoSCall.Order) -> String {
    guard let socket = host.shared(order.port) else { return "ERR ILLARG \(order.port)" }
    let call = QoSCall(order, source: .random(in: 0 ... .max))
    calls[call.source] = call
    socket.add(call)
    return "OK \(call.source)"
  }
}

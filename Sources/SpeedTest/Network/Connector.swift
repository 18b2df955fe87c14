import CLibssl
import Foundation

/// Opens connections until the server takes a first command.
struct Connector: Sendable {
  let plan: SpeedTestPlan
  let addresses: Addresses
  let tls: TLSContext?
  let counter: TrafficCounter
  let waiting: Waiting

  private var clock: TestClock { waiting.clock }

  /// - Parameter latest: ns of the clock after which no attempt begins.
  func open(until latest: Int64) throws(SpeedTestError) -> Connection {
    var retry = OpeningRetry()
    while true {
      guard clock.now() < latest else { throw .timeout("the token is too old for another connection") }
      var opened: Connection?
      do {
        return try attempt(&opened)
      } catch {
        let connection = opened
        opened = nil
        connection?.close()
        // Without a connection object, TLS had not begun: a reset there is a fresh connection's end too.
        let mayRetry = connection?.conversation.mayRetry ?? true
        guard let wait = retry.wait(after: error, mayRetry: mayRetry) else { throw error }
        Thread.sleep(forTimeInterval: Double(wait) / 1e9)
      }
    }
  }

  private func attempt(_ opened: inout Connection?) throws(SpeedTestError) -> Connection {
    let connection = Connection(CountedTransport(try transport(), counter), waiting: waiting)
    opened = connection
    if plan.opening == .http {
      try connection.send(Array(Upgrade.request(host: plan.host, port: plan.port).utf8))
      try Upgrade.check(try connection.readHead())
    }
    try connection.readUntilReady()
    try connection.command(.token(plan.token))
    try connection.readUntilReady(isFirst: true)
    return connection
  }

  private func transport() throws(SpeedTestError) -> any Transport {
    let socket = try connect()
    guard let tls else { return socket }
    let secure = try TLSSocket(socket, context: tls, host: plan.host)
    let limit = clock.now() + TimeLimits.read
    while let events = try secure.handshake() {
      guard try waiting.wait(on: socket.descriptor, for: events, until: limit) else {
        throw .timeout("the TLS handshake")
      }
    }
    return secure
  }

  private func connect() throws(SpeedTestError) -> PlainSocket {
    var failure = SpeedTestError.unresolved(plan.host)
    for address in addresses.list {
      do {
        return try connect(address)
      } catch .aborted {
        throw .aborted
      } catch {
        failure = error
      }
    }
    throw failure
  }

  private func connect(_ address: Addresses.Address) throws(SpeedTestError) -> PlainSocket {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(address.family, type, 0)
    guard descriptor >= 0 else { throw .unreachable(String(cString: strerror(errno))) }
    let socket = PlainSocket(descriptor: descriptor)
    if let interface = plan.interface { try socket.bind(to: interface) }
    let code = address.bytes.withUnsafeBytes { bytes in
      bytes.baseAddress.map {
        Glibc.connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
      }
    }
    if code == 0 { return socket }
    guard errno == EINPROGRESS else { throw .unreachable(String(cString: strerror(errno))) }
    try finish(socket)
    return socket
  }

  private func finish(_ socket: PlainSocket) throws(SpeedTestError) {
    let limit = clock.now() + 10_000_000_000
    guard try waiting.wait(on: socket.descriptor, for: Int16(POLLOUT), until: limit) else {
      throw .timeout("connecting")
    }
    var failure: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(socket.descriptor, SOL_SOCKET, SO_ERROR, &failure, &size)
    guard failure == 0 else { throw .unreachable(String(cString: strerror(failure))) }
  }
}

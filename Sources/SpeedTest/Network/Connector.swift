import CLibssl
import Foundation

/// Opens connections of a test: TCP, TLS, the HTTP upgrade, greeting and token, until the server takes a first command. All
/// threads share one.
struct Connector: Sendable {
  let plan: SpeedTestPlan
  let addresses: Addresses
  /// `nil` for plain TCP.
  let tls: TLSContext?
  var counter = TrafficCounter()
  /// The clock, and the end of the whole test.
  let waiting: Waiting

  private var clock: TestClock { waiting.clock }

  /// Opens a connection; tries again when a fresh one ends (``OpeningRetry``).
  /// - Parameter latest: ns of the clock after which no attempt begins.
  /// - Throws: The error of the last attempt.
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
        // Without a connection object, TCP or the TLS handshake failed: an end there is a fresh connection's end too.
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
    var dialer = Dialer(waiting: waiting)
    dialer.interface = plan.access.interface
    let socket = try dialer.connect(addresses)
    guard let tls else { return socket }
    return try dialer.secure(socket, context: tls, host: plan.host)
  }
}

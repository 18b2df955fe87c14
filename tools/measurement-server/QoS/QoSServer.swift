import Foundation

/// The server of QoS tests: accepts control connections, a thread each.
final class QoSServer: @unchecked Sendable {
  private let listener: Listener
  private let tls: ServerTLS?
  private let host: QoSHost

  init(_ host: QoSHost, port: UInt16, tls: ServerTLS?) throws {
    (self.host, self.tls) = (host, tls)
    listener = try Listener(address: host.address, port: port)
  }

  var port: UInt16 { listener.port }

  /// Serves until the process ends.
  func run() {
    for port in host.ports { Thread.detachNewThread { port.run() } }
    var number = 0
    while let descriptor = listener.accept() {
      number += 1
      let (host, tls, number) = (host, tls, number)
      Thread.detachNewThread {
        do {
          let lines = QoSLines(try PeerStream(descriptor: descriptor, tls: tls))
          let connection = QoSConnection(lines, number: number, host: host)
          defer { connection.close() }
          try connection.run()
        } catch {
          Journal.line("QoS \(number): ended: \(error)")
        }
      }
    }
  }
}

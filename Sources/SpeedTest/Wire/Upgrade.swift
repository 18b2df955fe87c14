/// The HTTP request that opens RMBThttp, and its answer. After status 101 both sides speak plain lines (docs/protocol.md, 7.1).
enum Upgrade {
  /// The request, to be sent in one write, with nothing behind its empty line (docs/protocol.md, edge 2).
  /// Servers compare `Upgrade: RMBT` literally, with one blank.
  static func request(host: String, port: UInt16) -> String {
    let host = host.contains(":") ? "[\(host)]" : host
    return "GET /rmbt HTTP/1.1\r\nHost: \(host):\(port)\r\nConnection: Upgrade\r\nUpgrade: RMBT\r\n"
      + "RMBT-Version: 1.2.0\r\n\r\n"
  }

  /// - Parameter head: The lines of the head; the first one has the status.
  /// - Throws: ``SpeedTestError/upgradeRefused(_:)`` unless the status is 101.
  static func check(_ head: [String]) throws(SpeedTestError) {
    let status = head.first ?? ""
    guard status.hasPrefix("HTTP/1."), status.split(separator: " ").dropFirst().first == "101" else {
      throw .upgradeRefused(String(status.prefix(60)))
    }
  }
}

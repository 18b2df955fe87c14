import Coverage

/// `network_type` of a speed test: what the reference apps send for its link (docs/protocol.md, 6.2).
enum NetworkType {
  /// A mobile network of an unknown technology.
  static let cellular: Int64 = 0
  /// No statement about the link: the reference's command-line clients send it for every link.
  private static let unknown: Int64 = 98
  private static let (wifi, ethernet, vpn): (Int64, Int64, Int64) = (99, 106, 108)

  /// Never 97, which the server's database deletes (docs/protocol.md, 3.7).
  /// - Parameters:
  ///   - links: The links that carried the test; `nil` when they are not known.
  ///   - technology: That of the modem.
  static func of(links: [SpeedTestLink]?, _ technology: Technology?) -> Int64 {
    let id = technology.flatMap { $0 == .none ? nil : $0.id }.map(Int64.init)
    guard let links, !links.isEmpty else { return id ?? unknown }
    switch links.kind {
    // Two modems: the technology is that of one of them.
    case .cellular: return Set(links.map(\.interface)).count > 1 ? cellular : id ?? cellular
    case .loopback: return id ?? unknown
    case .wifi: return wifi
    case .ethernet: return ethernet
    case .vpn: return vpn
    case .other, nil: return unknown
    }
  }
}

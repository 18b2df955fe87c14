import Coverage
import Foundation
import TestSupport

@testable import SpeedTest

/// Sockets of tests on loopback.
enum LoopbackPort {
  static func address(_ port: UInt16, host: UInt32 = 0x7F00_0001) -> Addresses.Address {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = host.bigEndian
    address.sin_port = port.bigEndian
    return Addresses.Address(family: AF_INET, bytes: withUnsafeBytes(of: &address) { Array($0) })
  }

  /// A TCP port that was free a moment ago.
  static func free() throws -> UInt16 { try LineListener(on: address(0)).port }

  static func now() -> Int64 { Int64(DispatchTime.now().uptimeNanoseconds) }

  static func waiting(seconds: Int64 = 20) -> Waiting {
    Waiting(clock: TestClock(now: now, isAborted: { false }), deadline: now() + seconds * 1_000_000_000)
  }

  /// The context of a test, with a control connection or without.
  static func context(
    seconds: Int64 = 20, _ control: QTPConnection? = nil, family: IPVersion? = .ipv4
  ) throws -> QoSContext {
    QoSContext(
      waiting: waiting(seconds: seconds), control: control, token: try MeasurementToken("u_1_x"), family: family)
  }

  /// Whether this host has IPv6 on loopback.
  static let hasIPv6: Bool = {
    guard let address = try? Addresses(host: "::1", port: 0, family: .ipv6).list.first else { return false }
    return (try? DatagramSocket(on: address)) != nil
  }()
}

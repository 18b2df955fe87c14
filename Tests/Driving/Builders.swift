import Coverage
import Foundation
import TestSupport

@testable import Driving
@testable import Networking
@testable import Pinging
@testable import Submission

extension Device {
  static let sample = Device(
    model: "Box", device: "box-1", osVersion: "Debian 12", language: "de", timezone: "Europe/Vienna",
    softwareVersion: "1.2.3", softwareVersionCode: 10203, softwareRevision: "abc1234")
}

extension PingEvent {
  /// The event of a ping that was scheduled at `slot`, in nanoseconds.
  static func sample(_ kind: Kind, target: PingTarget.ID = 1, number: UInt64 = 1, slot: UInt64 = 0) -> PingEvent {
    PingEvent(
      target: target, kind: kind, number: number, sequence: UInt32(truncatingIfNeeded: number), slot: slot,
      sent: slot, occurred: slot)
  }
}

extension PingAddress {
  static func sample(_ last: Int = 1) throws -> PingAddress {
    guard let address = PingAddress(numeric: "127.0.0.\(last)", port: 9) else { throw CocoaError(.formatting) }
    return address
  }
}

extension CoverageGrant {
  /// - Parameter members: More members than those of a plain test, e.g. `"loop_uuid": "L"`.
  static func sample(_ test: String, host: String = "server.example", _ members: String = "") throws -> CoverageGrant {
    let more = members.isEmpty ? "" : ", \(members)"
    let answer = """
      {"test_uuid": "\(test)", "ping_token": "AAECAwQFBgcICQoLDA0ODw==", "ping_host": "\(host)", "ping_port": 9\(more)}
      """
    return try CoverageGrant(Data(answer.utf8))
  }
}

extension PathReading {
  static let cellular = PathReading(fixed: .cellular)
  static let wifi = PathReading(link: Link(interface: "wlan0", kind: .wifi))
  static let offline = PathReading.noRoute(to: nil, by: nil)

  /// A reading by a modem with that address.
  static func modem(_ address: String) -> PathReading {
    PathReading(
      link: Link(interface: "wwan0", kind: .modem), way: Way(destination: nil, interface: "wwan0", address: address))
  }
}

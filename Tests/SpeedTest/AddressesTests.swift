import Coverage
import Foundation
import Testing

@testable import SpeedTest

@Suite struct AddressesTests {
  private func resolve(_ host: String, _ family: IPVersion? = nil, port: UInt16 = 443) throws -> [Addresses
    .Address]
  {
    try Addresses(host: host, port: port, family: family).list
  }

  @Test(
    "When the host is an address, then it is the only result, with the port",
    arguments: [nil, IPVersion.ipv4])
  func version4(family: IPVersion?) throws {
    let list = try resolve("192.0.2.7", family, port: 0x1234)
    #expect(list.map(\.family) == [AF_INET])
    // The family in the host's order, then the port and the address in the network's.
    #expect(list.first?.bytes.dropFirst(2).prefix(6) == [0x12, 0x34, 192, 0, 2, 7])
    #expect(list.first?.bytes.count == MemoryLayout<sockaddr_in>.size)
  }

  @Test("When the host is an IPv6 address, then it is the only result, with the port")
  func version6() throws {
    let list = try resolve("2001:db8::1", .ipv6, port: 1)
    #expect(list.map(\.family) == [AF_INET6])
    #expect(list.first?.bytes[2..<4] == [0, 1])
    #expect(list.first?.bytes[8..<24] == [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    #expect(list.first?.bytes.count == MemoryLayout<sockaddr_in6>.size)
  }

  @Test(
    "Edge 8: when an address is not of the requested version, then it is not used",
    arguments: [("127.0.0.1", IPVersion.ipv6), ("::1", .ipv4)])
  func otherFamily(host: String, family: IPVersion) {
    let error = #expect(throws: SpeedTestError.self) { try resolve(host, family) }
    #expect(error?.unresolvedName == host)
  }

  @Test("When a name is in the host's own list, then its addresses are found, each once")
  func name() throws {
    let list = try resolve("localhost", .ipv4)
    #expect(list.map { Array($0.bytes[4..<8]) } == [[127, 0, 0, 1]])
  }

  @Test("When a name is invalid, then the error contains it")
  func noName() {
    // No server is asked for a label of more than 63 bytes.
    let host = String(repeating: "a", count: 64) + ".invalid"
    let error = #expect(throws: SpeedTestError.self) { try resolve(host) }
    #expect(error?.unresolvedName == host)
  }
}

extension SpeedTestError {
  /// The name that cannot be resolved.
  var unresolvedName: String? { if case .unresolved(let error) = self { error.name } else { nil } }
}

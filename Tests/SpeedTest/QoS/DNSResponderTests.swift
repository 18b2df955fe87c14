import Foundation
import OrderedJSON
import TestSupport
import Testing

@testable import SpeedTest
@testable import measurement_server

/// The resolver of tools/measurement-server.
@Suite struct DNSResponderTests {
  private func answer(_ name: String, _ type: DNSRecordType = .a) throws -> DNSAnswer {
    let query = try #require(DNSQuery(name, type, id: 7))
    let bytes = try #require(DNSResponder.answer(to: query.bytes))
    return try #require(DNSAnswer(bytes, to: query))
  }

  @Test("When a name is queried, then its address is 127.0.0.1; names below invalid do not exist")
  func names() throws {
    #expect(try answer("a.example").entries == [DNSEntry(value: "127.0.0.1", timeToLive: 60)])
    #expect(try answer("a.example", .mx).entries.isEmpty && answer("a.example", .mx).codeName == "NOERROR")
    #expect(try answer("a.INVALID").entries.isEmpty && answer("a.INVALID").codeName == "NXDOMAIN")
  }

  @Test("When a packet is not a query with one question, or is cut, then there is no answer")
  func others() throws {
    let query = try #require(DNSQuery("a.example", .a, id: 7)).bytes
    for length in 0..<query.count { #expect(DNSResponder.answer(to: Array(query[..<length])) == nil) }
    for (index, value) in [(2, UInt8(0x80)), (2, 0x10), (5, 2), (7, 1), (12, 0xC0), (12, 60)] {
      var changed = query
      changed[index] = value
      #expect(DNSResponder.answer(to: changed) == nil)
    }
  }

  @Test("When an objective names the lab's resolver with its port, then the DNS test is OK")
  func served() async throws {
    let server = try RunningProgram.product("measurement-server", ["--qos-dns-port", "0"])
    let resolver = try await server.line(after: "QoS resolver: ")
    let test = DNSTest(QoSParameters(["host": "localhost", "record": "A", "resolver": resolver]))
    let (status, members) = test.result(try LoopbackPort.context())
    #expect(status == .ok)
    #expect(JSON.object(members).text.contains(#""dns_result_address":"127.0.0.1""#))
  }
}

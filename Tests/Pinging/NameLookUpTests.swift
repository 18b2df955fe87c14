import Foundation
import Testing

@testable import Pinging

@Suite struct NameLookUpTests {
  @Test("when no name server answers in time, then the look-up ends with an error that says nothing of the name")
  func limit() {
    let end = DispatchSemaphore(value: 0)
    defer { end.signal() }
    let error = #expect(throws: NameError.self) {
      try NameLookUp.answer(about: "slow.test", within: .milliseconds(5)) { () throws(NameError) in end.wait() }
    }
    #expect(error == NameError(name: "slow.test", reason: "no name server answered within 0 s", isTemporary: true))
  }

  @Test(
    "when a name server is on this host, then its answer says nothing about the network",
    arguments: [
      ("nameserver 192.0.2.1\noptions edns0\nnameserver\t2001:db8::1\n", true), ("nameserver 127.0.0.53\n", false),
      ("nameserver 192.0.2.1\nnameserver ::1", false), ("# nameserver 192.0.2.1\n", false), ("", false),
    ])
  func servers(configuration: String, areDistant: Bool) {
    #expect(NameLookUp.areDistant(Data(configuration.utf8)) == areDistant)
  }

  @Test("when the answer comes in time, then it is the result, an error too")
  func answer() throws {
    #expect(try NameLookUp.answer(about: "x", within: .seconds(60)) { () throws(NameError) in 7 } == 7)
    let error = #expect(throws: NameError.self) {
      try NameLookUp.answer(about: "x", within: .seconds(60)) { () throws(NameError) -> Int in
        throw NameError(name: "x", reason: "r")
      }
    }
    #expect(error == NameError(name: "x", reason: "r"))
  }
}

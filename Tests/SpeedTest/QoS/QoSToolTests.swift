import TestSupport
import Testing

@testable import SpeedTest
@testable import measurement_server

/// The QoS part of tools/measurement-server: its limits are those of today's server (docs/protocol.md, 8).
@Suite struct QoSToolTests {
  @Test("When commands are within the limits, then they are read")
  func commands() throws {
    #expect(QoSCommand("REQUEST CONN TIMEOUT 15000") == .connectionTimeout(15_000))
    #expect(QoSCommand("GET UDPPORTS") == .udpPorts && QoSCommand("GET UDPPORT") == .udpPort)
    #expect(QoSCommand("TCPTEST OUT 1024") == .tcpOut(1024) && QoSCommand("TCPTEST IN 65535") == .tcpIn(65535))
    #expect(QoSCommand("NTPTEST 54515") == .proxy(54515) && QoSCommand("QUIT") == .quit)
    #expect(QoSCommand("UDPTEST OUT 10210 1000") == .udpOut(10210, 1000))
    #expect(QoSCommand("UDPTEST IN 30555 1") == .udpIn(30555, 1))
    #expect(QoSCommand("GET UDPRESULT OUT 10210") == .udpResultOut(10210))
    #expect(QoSCommand("GET UDPRESULT IN 30555") == .udpResultIn(30555))
    #expect(QoSCommand("GET VOIPRESULT -2") == .voipResult(0xFFFF_FFFE))
    guard case .voip(let order) = QoSCommand("VOIPTEST 5060 40000 8000 8 20 2000 77 8 100000000") else {
      Issue.record("no call")
      return
    }
    #expect(order.port == 5060 && order.packets == 100 && order.step == 160 && order.firstSequence == 77)
  }

  @Test(
    "When a value is beyond the limits, then the command is illegal, with the value",
    arguments: [
      ("REQUEST CONN TIMEOUT 14999", "14999"), ("REQUEST CONN TIMEOUT 60001", "60001"), ("TCPTEST OUT 1023", "1023"),
      ("TCPTEST IN 65536", "65536"), ("NTPTEST -1", "-1"), ("UDPTEST OUT 10210 1001", "1001"),
      ("UDPTEST IN 30555 0", "0"), ("VOIPTEST 5060 0 8000 8 1001 2000 0 8 1", "5060"),
      ("VOIPTEST 5060 0 8000 8 20 30001 0 8 1", "5060"), ("VOIPTEST 5060 0 8000 8 20 10 0 8 1", "5060"),
      ("VOIPTEST 5060 0 8000 8 1 1001 0 8 1", "5060"), ("VOIPTEST 5060 0 192000 32 1000 2000 0 8 1", "5060"),
    ])
  func illegal(text: String, value: String) { #expect(QoSCommand(text) == .illegal(value)) }

  @Test(
    "When a text is not a command, then it is rejected",
    arguments: [
      "", "PING", "TCPTEST 5000", "TCPTEST OUT", "TCPTEST OUT 5000 5", "GET UDPPORT 1", "tcptest out 5000",
      "TCPTEST OUT 99999999999999999999", "VOIPTEST 1 2 3",
    ])
  func unknown(text: String) { #expect(QoSCommand(text) == nil) }

  @Test("When a fault drops packets, then its share is 1 to 100 percent")
  func faults() throws {
    #expect(try Fault("udp-drop=50") == .udpDrop(50))
    #expect(try Fault("rewrite") == .rewrite && Fault("silent") == .silent)
    for text in ["udp-drop", "udp-drop=101", "udp-drop=0", "rewrite=1"] {
      #expect(throws: (any Error).self) { try Fault(text) }
    }
  }

  @Test("When packets of a test are counted, then numbers are signed bytes, and repeated ones are duplicates")
  func tally() {
    let tally = QoSTally(client: 1, uuid: [], wanted: 3)
    tally.count(0, 11)
    tally.count(128, 12)
    tally.count(128, 13)
    #expect(tally.received == 2)
    #expect(tally.result == #"RCV 2 1 {"-128":12,"0":11}"#)
  }
}

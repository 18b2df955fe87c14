import Testing

@testable import SpeedTest

/// The line protocol of QoS servers. Edges are those of docs/protocol.md, 9.
@Suite struct QTPTests {
  @Test(
    "Edge 41: when a line ends with a command's number, then it is removed before numbers are read",
    arguments: [
      ("OK +ID1", "OK", Int64(1)), ("10218 +ID2", "10218", 2), (#"RCV 6 0 {"0":12} +ID33"#, #"RCV 6 0 {"0":12}"#, 33),
      ("OK +ID1 +ID2", "OK +ID1", 2), ("OK +ID10", "OK", 10), ("OK +ID0", "OK", 0),
    ])
  func suffix(line: String, text: String, id: Int64) {
    #expect(QTPLine(line).text == text)
    #expect(QTPLine(line).id == id)
  }

  @Test(
    "When a line has no command number, or a number beyond 64 bits, then all of it is text",
    arguments: [
      "", "OK", "OK +ID", "OK+ID1", "OK +ID1 ", "OK +IDx", "+ID1", "OK +ID99999999999999999999", "123", "é +ID",
    ])
  func noSuffix(line: String) {
    #expect(QTPLine(line).text == line)
    #expect(QTPLine(line).id == nil)
  }

  @Test("Edge 41: when replies come in another order than the commands, then each command gets its own")
  func anyOrder() {
    var replies = QTPReplies()
    let (first, second, third) = (replies.issue(), replies.issue(hasReply: false), replies.issue())
    #expect(Set([first, second, third]).count == 3)
    replies.read(QTPLine("LATER +ID\(third)"))
    #expect(replies.removeReply(to: first) == nil)
    replies.read(QTPLine("SOONER +ID\(first)"))
    #expect(replies.removeReply(to: third) == "LATER")
    #expect(replies.removeReply(to: first) == "SOONER")
    #expect(replies.removeReply(to: first) == nil)
  }

  @Test("When a line answers no waiting command, then it changes nothing")
  func strays() {
    var replies = QTPReplies()
    let (first, second) = (replies.issue(), replies.issue())
    for line in ["OK", "OK +ID77", "OK +ID\(first)", "OK +ID\(first)"] { replies.read(QTPLine(line)) }
    #expect(replies.removeReply(to: second) == nil)
    replies.abandon(second)
    replies.read(QTPLine("OK +ID\(second)"))
    #expect(replies.removeReply(to: second) == nil)
  }

  @Test("When a server omits the number and only one command waits, then the line is its reply")
  func numberLeftOut() {
    var replies = QTPReplies()
    let id = replies.issue()
    replies.read(QTPLine("ERR ILLARG 12"))
    #expect(replies.removeReply(to: id) == "ERR ILLARG 12")
  }

  @Test("When a connection opens, then the token is sent after the first ACCEPT, and commands may follow the second")
  func opening() throws {
    var opening = QTPOpening()
    #expect(try !opening.read("QoSSP0.1"))
    #expect(try opening.read("ACCEPT [TOKEN string]"))
    #expect(try !opening.read("OK"))
    #expect(opening.stage == .listing)
    #expect(try !opening.read("ACCEPT [TCPTEST|UDPTEST]"))
    #expect(opening.stage == .ready)
  }

  @Test("When a server refuses the token or speaks another protocol, then the opening fails with that reason")
  func refused() throws {
    var refused = QTPOpening()
    _ = try refused.read("QoSSP0.1")
    _ = try refused.read("ACCEPT [TOKEN string]")
    #expect(throws: SpeedTestError.tokenRefused) { try refused.read("ERR") }
    var other = QTPOpening()
    #expect(throws: SpeedTestError.protocolError("a QoS server sent \"RMBTv1.3.5\" (greeting)")) {
      try other.read("RMBTv1.3.5")
    }
  }

  @Test("When commands are written, then they are the lines of docs/protocol.md, 8")
  func commands() {
    #expect(QTPCommand.connectionTimeout(20_000).text == "REQUEST CONN TIMEOUT 20000")
    #expect(QTPCommand.tcpOut(port: 20102).text == "TCPTEST OUT 20102")
    #expect(QTPCommand.tcpIn(port: 20103).text == "TCPTEST IN 20103")
    #expect(QTPCommand.proxy(port: 54515).text == "NTPTEST 54515")
    #expect(QTPCommand.udpPort.text == "GET UDPPORT")
    #expect(QTPCommand.udpOut(port: 10210, packets: 6).text == "UDPTEST OUT 10210 6")
    #expect(QTPCommand.udpIn(port: 30555, packets: 6).text == "UDPTEST IN 30555 6")
    #expect(QTPCommand.udpResultOut(port: 10210).text == "GET UDPRESULT OUT 10210")
    #expect(QTPCommand.udpResultIn(port: 30555).text == "GET UDPRESULT IN 30555")
    #expect(QTPCommand.voipResult(source: "-7").text == "GET VOIPRESULT -7")
    #expect(QTPCommand.quit.text == "QUIT")
  }

  @Test("Edge 45: when an objective has ns, then the call is ordered in ms, and its buffer in ns")
  func callInMilliseconds() throws {
    let parameters = QoSParameters([
      "call_duration": "2000000000", "delay": "20000000", "sample_rate": "8000", "bits_per_sample": "8",
      "payload": "8", "buffer": "100000000",
    ])
    let call = try #require(VoIPCall(parameters, firstSequence: 77))
    #expect(
      QTPCommand.voip(call, port: 5060, clientPort: 40_000).text == "VOIPTEST 5060 40000 8000 8 20 2000 77 8 100000000")
  }
}

/// A command of a QoS client, within the limits of today's servers (docs/protocol.md, 8).
enum QoSCommand: Hashable {
  case connectionTimeout(Int)
  case udpPorts, udpPort, quit
  case tcpOut(UInt16), tcpIn(UInt16), proxy(UInt16)
  case udpOut(UInt16, Int), udpIn(UInt16, Int), udpResultOut(UInt16), udpResultIn(UInt16)
  case voip(QoSCall.Order), voipResult(UInt32)
  /// A known command with a value that is out of range.
  case illegal(String)

  /// `nil` for an unknown command.
  init?(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    let numbers = words.compactMap { Int($0) }
    let names = words.filter { Int($0) == nil }.joined(separator: " ")
    switch (names, numbers.count) {
    case ("GET UDPPORTS", 0): self = .udpPorts
    case ("GET UDPPORT", 0): self = .udpPort
    case ("QUIT", 0): self = .quit
    case ("REQUEST CONN TIMEOUT", 1):
      self = (15_000...60_000).contains(numbers[0]) ? .connectionTimeout(numbers[0]) : .illegal("\(numbers[0])")
    case ("GET VOIPRESULT", 1): self = .voipResult(UInt32(truncatingIfNeeded: numbers[0]))
    case ("VOIPTEST", 9): self = QoSCall.Order(numbers).map { .voip($0) } ?? .illegal(words[1])
    case ("TCPTEST OUT", 1): self = Self.ported(numbers) { .tcpOut($0) }
    case ("TCPTEST IN", 1): self = Self.ported(numbers) { .tcpIn($0) }
    case ("NTPTEST", 1): self = Self.ported(numbers) { .proxy($0) }
    case ("UDPTEST OUT", 2): self = Self.counted(numbers) { .udpOut($0, $1) }
    case ("UDPTEST IN", 2): self = Self.counted(numbers) { .udpIn($0, $1) }
    case ("GET UDPRESULT OUT", 1): self = Self.ported(numbers) { .udpResultOut($0) }
    case ("GET UDPRESULT IN", 1): self = Self.ported(numbers) { .udpResultIn($0) }
    default: return nil
    }
  }

  private static func ported(_ numbers: [Int], _ make: (UInt16) -> QoSCommand) -> QoSCommand {
    (1024...65535).contains(numbers[0]) ? make(UInt16(numbers[0])) : .illegal("\(numbers[0])")
  }

  private static func counted(_ numbers: [Int], _ make: (UInt16, Int) -> QoSCommand) -> QoSCommand {
    guard (1...1000).contains(numbers[1]) else { return .illegal("\(numbers[1])") }
    return ported(numbers) { make($0, numbers[1]) }
  }
}

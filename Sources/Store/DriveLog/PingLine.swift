import Coverage

/// A line of a ping in exactly the form in which ``DriveLogWriter`` writes it. Nine in ten lines of a drive log are pings, and a general
/// decoder is slow.
struct PingLine {
  let event: Event
  /// The number of the ping on the wire, if the log has it.
  let sequence: UInt32?

  /// `nil` for every other form: the caller decodes such a line with Foundation. Both read the same values.
  init?(_ line: ArraySlice<UInt8>) {
    var reader = Reader(line)
    guard reader.skip(#"{"at":"#), let at = reader.millionths(), reader.skip(#","ping":{"#),
      let outcome = reader.outcome(), let sequence = reader.sequence(), reader.skip("}"), reader.isAtEnd
    else { return nil }
    event = Event(at: DriveTime(microseconds: at), .ping(outcome))
    self.sequence = sequence
  }
}

extension PingLine {
  /// Reads a line from left to right.
  private struct Reader {
    private let line: ArraySlice<UInt8>
    private var index: Int

    init(_ line: ArraySlice<UInt8>) { (self.line, index) = (line, line.startIndex) }

    var isAtEnd: Bool { index == line.endIndex }

    /// Skips `text` if it comes next.
    mutating func skip(_ text: StaticString) -> Bool {
      let isNext = text.withUTF8Buffer { line[index...].prefix($0.count).elementsEqual($0) }
      if isNext { index += text.utf8CodeUnitCount }
      return isNext
    }

    mutating func outcome() -> PingOutcome? {
      if skip(#""rtt_ms":"#) {
        guard let rtt = millionths(), RoundTripValue.possible.contains(rtt) else { return nil }
        let isKernelStamped = skip(#","stamps":"kernel""#)
        return skip("}") ? .answered(rttNanoseconds: rtt, isKernelStamped: isKernelStamped) : nil
      }
      if skip(#""error":"timeout"}"#) { return .failed(.timeout) }
      return skip(#""error":"network"}"#) ? .failed(.network) : nil
    }

    /// `.some(nil)` for a line without a sequence number.
    mutating func sequence() -> UInt32?? {
      guard skip(#","sequence":"#) else { return .some(nil) }
      return wholeNumber(digits: 10).flatMap(UInt32.init(exactly:)).map(Optional.some)
    }

    /// A number below 10^9 with one to six places, in millionths. Foundation's way over the nearest `Double` yields the same millionths.
    mutating func millionths() -> Int64? {
      let isNegative = skip("-")
      guard let whole = wholeNumber(digits: 9), skip(".") else { return nil }
      var (fraction, unit): (Int64, Int64) = (0, 1_000_000)
      while unit > 1, let digit = digit() { (fraction, unit) = (fraction * 10 + digit, unit / 10) }
      guard unit < 1_000_000 else { return nil }
      let millionths = whole * 1_000_000 + fraction * unit
      return isNegative ? -millionths : millionths
    }

    /// A whole number of at most `count` digits. It stops behind a leading zero, because JSON forbids further digits there.
    private mutating func wholeNumber(digits count: Int) -> Int64? {
      guard var number = digit() else { return nil }
      var left = number == 0 ? 0 : count - 1
      while left > 0, let digit = digit() { (number, left) = (number * 10 + digit, left - 1) }
      return number
    }

    private mutating func digit() -> Int64? {
      guard index < line.endIndex, case let value = line[index] &- UInt8(ascii: "0"), value < 10 else { return nil }
      index += 1
      return Int64(value)
    }
  }
}

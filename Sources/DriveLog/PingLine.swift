import Coverage

extension EventLine {
  /// Reads a ping in the very form in which ``DriveLogWriter`` writes it: nine in ten lines of a drive log, without the cost of
  /// a general decoder.
  ///
  /// Strict: `nil` for whatever differs from that form, so that Foundation decides on it. What is read here, Foundation would
  /// read the same.
  init?(ping line: ArraySlice<UInt8>) {
    var reader = LineReader(line)
    guard reader.take(#"{"at":"#), let at = reader.millionths(), reader.take(#","ping":{"#),
      let outcome = reader.outcome(), let sequence = reader.sequence(), reader.take("}"), reader.isAtEnd
    else { return nil }
    self.init(event: Event(at: DriveTime(microseconds: at), .ping(outcome)), pingSequence: sequence)
  }
}

/// Reads a line from left to right.
private struct LineReader {
  private let line: ArraySlice<UInt8>
  private var index: Int

  init(_ line: ArraySlice<UInt8>) { (self.line, index) = (line, line.startIndex) }

  var isAtEnd: Bool { index == line.endIndex }

  /// Passes over `text`, if it is what comes next.
  mutating func take(_ text: StaticString) -> Bool {
    let isNext = text.withUTF8Buffer { line[index...].prefix($0.count).elementsEqual($0) }
    if isNext { index += text.utf8CodeUnitCount }
    return isNext
  }

  mutating func outcome() -> PingOutcome? {
    if take(#""rtt_ms":"#) {
      guard let rtt = millionths(), RoundTripValue.possible.contains(rtt) else { return nil }
      let isKernelStamped = take(#","stamps":"kernel""#)
      return take("}") ? .answered(rttNanoseconds: rtt, isKernelStamped: isKernelStamped) : nil
    }
    if take(#""error":"timeout"}"#) { return .failed(.timeout) }
    return take(#""error":"network"}"#) ? .failed(.network) : nil
  }

  /// `.some(nil)` where the line tells none.
  mutating func sequence() -> UInt32?? {
    guard take(#","sequence":"#) else { return .some(nil) }
    return wholeNumber(digits: 10).flatMap(UInt32.init(exactly:)).map(Optional.some)
  }

  /// A number with one to six places, below a thousand million, in millionths. The nearest `Double` is precise enough to give
  /// the same millionths.
  mutating func millionths() -> Int64? {
    let isNegative = take("-")
    guard let whole = wholeNumber(digits: 9), take(".") else { return nil }
    var (fraction, unit): (Int64, Int64) = (0, 1_000_000)
    while unit > 1, let digit = digit() { (fraction, unit) = (fraction * 10 + digit, unit / 10) }
    guard unit < 1_000_000 else { return nil }
    let millionths = whole * 1_000_000 + fraction * unit
    return isNegative ? -millionths : millionths
  }

  /// Of so many digits at most, without needless zeros, which JSON forbids.
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

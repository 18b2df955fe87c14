/// Turns the times of day of a log into seconds since its start.
///
/// Times of day can go back: sentences of one type stay an epoch behind those of another, two receivers share a log, a clock is set. Each
/// type of sentence has its own clock, and the log is as long as the one that ran longest: else, each way back and forth would count.
struct Pace {
  /// In seconds. A longer step is a jump of the receiver's clock (a corrected date, a gap in the log) and counts as one second.
  static let longestStep = 3600.0

  /// The clock of one type of sentence.
  private struct Clock {
    var elapsed: Double
    var last: Double
    /// A time before ``last``, since the last one after it.
    var back: Double?

    mutating func advance(to time: Double) {
      var step = time - last
      if step < -43_200 { step += 86_400 }
      if step >= 0 {
        elapsed += step > Pace.longestStep ? 1 : step
        (last, back) = (time, nil)
      } else if let begun = back, time > begun {
        // It goes on from there: the clock was set back.
        elapsed += time - begun
        (last, back) = (time, nil)
      } else {
        back = time
      }
    }
  }

  private(set) var elapsed = 0.0
  private var latest: Double?
  private var clocks: [String: Clock] = [:]

  /// Advances to the next time in the log, in seconds of the day.
  /// - Parameter type: The type of its sentence.
  /// - Returns: Whether it begins an epoch.
  mutating func advance(to time: Double, of type: String = "") -> Bool {
    clocks[type, default: Clock(elapsed: elapsed, last: time)].advance(to: time)
    elapsed = max(elapsed, clocks[type]?.elapsed ?? 0)
    defer { latest = time }
    return time != latest
  }

  /// `hhmmss.sss` as seconds of the day.
  static func seconds(hhmmss text: some StringProtocol) -> Double? {
    let digits = Array(text.utf8)
    guard digits.count >= 6, digits.prefix(6).allSatisfy({ (0x30...0x39).contains($0) }),
      let hours = Int(text.prefix(2)), let minutes = Int(text.dropFirst(2).prefix(2)),
      let seconds = Double(text.dropFirst(4)), hours < 24, minutes < 60, (0..<61).contains(seconds)
    else { return nil }
    return Double(hours * 3600 + minutes * 60) + seconds
  }
}

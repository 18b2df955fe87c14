/// Turns the times of day of a log into seconds since its start.
struct Pace {
  /// In seconds. A longer step is a jump of the receiver's clock (a corrected date, a gap in the log) and counts as one second.
  static let longestStep = 3600.0

  private(set) var elapsed = 0.0
  private var last: Double?

  /// Advances to the next time in the log, in seconds of the day.
  /// - Returns: Whether it begins an epoch.
  mutating func advance(to time: Double) -> Bool {
    guard let last else {
      self.last = time
      return true
    }
    guard time != last else { return false }
    var step = time - last
    if step < -43_200 { step += 86_400 }
    self.last = time
    // Times within one epoch can be slightly out of order.
    elapsed += step < 0 ? 0 : step > Self.longestStep ? 1 : step
    return true
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

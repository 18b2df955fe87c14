extension Duration {
  /// Whole microseconds, cut off towards zero; the most that fit, 292,000 years, for anything longer.
  public var inMicroseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds.saturatingMultiplied(by: 1_000_000).saturatingAdding(attoseconds / 1_000_000_000_000)
  }

  /// Whole milliseconds, cut off towards zero, as the control server's `offset_ms` and `duration_ms` are (spec 2.10).
  public var inMilliseconds: Int64 { inMicroseconds / 1000 }

  /// Whole nanoseconds, cut off towards zero; the most that fit, 292 years, for anything longer.
  public var inNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds.saturatingMultiplied(by: 1_000_000_000).saturatingAdding(attoseconds / 1_000_000_000)
  }

  /// Seconds as a number, for reckoning with speeds and for display: to the nanosecond, beyond 285 years to the second.
  public var inSeconds: Double {
    let seconds = components.seconds
    guard seconds.magnitude < 9_000_000_000 else { return Double(seconds) }
    return Double(inNanoseconds) / 1e9
  }
}

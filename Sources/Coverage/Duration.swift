extension Duration {
  /// Whole microseconds, cut off towards zero; saturates at 292,000 years.
  public var inMicroseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds.saturatingMultiplied(by: 1_000_000).saturatingAdding(attoseconds / 1_000_000_000_000)
  }

  /// Whole milliseconds, cut off towards zero, like the control server's `offset_ms` and `duration_ms`
  /// (docs/algorithm.md, 7).
  public var inMilliseconds: Int64 { inMicroseconds / 1000 }

  /// Whole nanoseconds, cut off towards zero; saturates at 292 years.
  public var inNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds.saturatingMultiplied(by: 1_000_000_000).saturatingAdding(attoseconds / 1_000_000_000)
  }

  /// The absolute value.
  public var magnitude: Duration { self < .zero ? .zero - self : self }

  /// Seconds, for arithmetic with speeds and for display: to the nanosecond up to 285 years, to the second beyond.
  public var inSeconds: Double {
    let seconds = components.seconds
    guard seconds.magnitude < 9_000_000_000 else { return Double(seconds) }
    return Double(inNanoseconds) / 1e9
  }
}

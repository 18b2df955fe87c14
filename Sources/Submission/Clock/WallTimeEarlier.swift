import Coverage

extension WallTime {
  /// Saturates at the ends of what a time can be.
  func earlier(by duration: Duration) -> WallTime {
    WallTime(microseconds: microseconds.saturatingSubtracting(duration.inMicroseconds))
  }
}

import Coverage

extension WallTime {
  /// The time `duration` before this one, limited to the range of 64-bit microseconds.
  func earlier(by duration: Duration) -> WallTime {
    WallTime(microseconds: microseconds.saturatingSubtracting(duration.inMicroseconds))
  }
}

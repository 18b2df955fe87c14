/// The variation of delay between two consecutive pings (RFC 3393, 4.2), without its sign.
public enum DelayVariation {
  /// In nanoseconds: no ping waits an hour for its answer, so a larger difference comes from a wrong clock.
  private static let largest: Int64 = 3_600_000_000_000

  /// The greatest distance between two consecutive pings, in microseconds: one and a half intervals. At a greater
  /// distance, a ping between them counts elsewhere or is missing.
  /// - Parameter interval: The interval at which pings are sent.
  public static func reach(interval: Duration) -> Int64 { interval.inMicroseconds.saturatingMultiplied(by: 3) / 2 }

  /// The absolute difference of the delays of two consecutive pings, in nanoseconds; `nil` above an hour: the far
  /// end's clock is wrong or was set.
  public static func between(_ former: Int64, _ latter: Int64) -> Int64? {
    let difference = latter.saturatingSubtracting(former).saturatingMagnitude
    return difference <= largest ? difference : nil
  }
}

/// A round-trip time in a line of a drive log, `{"rtt_ms":31.67}`.
struct RoundTripValue: Decodable {
  let nanoseconds: Int64

  /// In nanoseconds, up to an hour: no ping waits longer.
  static let possible: ClosedRange<Int64> = 0...3_600_000_000_000

  private enum Key: String, CodingKey {
    case rtt = "rtt_ms"
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    let milliseconds = try values.decode(Double.self, forKey: .rtt)
    let limits = Double(Self.possible.lowerBound) / 1e6...Double(Self.possible.upperBound) / 1e6
    guard limits.contains(milliseconds) else {
      throw DecodingError.dataCorruptedError(
        forKey: .rtt, in: values, debugDescription: "\(milliseconds) is not a round-trip time")
    }
    nanoseconds = Int64((milliseconds * 1e6).rounded())
  }
}

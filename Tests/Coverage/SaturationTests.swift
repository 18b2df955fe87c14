import Testing

@testable import Coverage

/// Arithmetic on numbers from outside saturates instead of trapping.
@Suite struct SaturationTests {
  private static let edges: [Int64] = [.min, .min + 1, -1_000_000, -1, 0, 1, 3, 1_000_000, .max - 1, .max]

  @Test func `when a result fits, then it is the plain operator's; else it is the nearest number that fits`() {
    for a in Self.edges {
      for b in Self.edges {
        #expect(Int128(a.saturatingAdding(b)) == Self.clamped(Int128(a) + Int128(b)), "\(a) + \(b)")
        #expect(Int128(a.saturatingSubtracting(b)) == Self.clamped(Int128(a) - Int128(b)), "\(a) - \(b)")
        #expect(Int128(a.saturatingMultiplied(by: b)) == Self.clamped(Int128(a) * Int128(b)), "\(a) * \(b)")
        #expect(a.exactlyAdding(b) == Int64(exactly: Int128(a) + Int128(b)), "\(a) + \(b)")
        #expect(a.exactlyMultiplied(by: b) == Int64(exactly: Int128(a) * Int128(b)), "\(a) * \(b)")
      }
      #expect(Int128(a.saturatingMagnitude) == Self.clamped(Int128(a) < 0 ? -Int128(a) : Int128(a)))
    }
  }

  private static func clamped(_ value: Int128) -> Int128 { min(max(value, Int128(Int64.min)), Int128(Int64.max)) }

  @Test func `when unsigned numbers overflow, then they saturate`() {
    #expect(UInt8(200).saturatingAdding(100) == 255)
    #expect(UInt8(1).saturatingSubtracting(2) == 0)
    #expect(UInt8(200).saturatingMultiplied(by: 2) == 255)
  }

  @Test(arguments: [
    (1.9, 1), (-1.9, -1), (1e300, Int64.max), (-1e300, .min), (.infinity, .max), (-.infinity, .min),
    (9_223_372_036_854_775_808, .max), (-9_223_372_036_854_775_808, .min),
  ])
  func `when a number has a fraction or does not fit, then it is truncated or saturates`(
    _ value: Double, _ whole: Int64
  ) {
    #expect(Int64(saturating: value) == whole)
  }

  @Test func `when a value is not a number, then there is no integer`() {
    #expect(Int64(saturating: .nan) == nil)
  }

  @Test func `when times lie at the ends of their range, then no arithmetic on them traps`() {
    for a in Self.edges {
      for b in Self.edges {
        let (left, right) = (DriveTime(microseconds: a), DriveTime(microseconds: b))
        let difference = left - right
        #expect(difference.inMicroseconds == a.saturatingSubtracting(b))
        #expect((left + difference).microseconds == a.saturatingAdding(difference.inMicroseconds))
        let walls = (WallTime(microseconds: a), WallTime(microseconds: b))
        #expect(walls.0.since(walls.1) == DriveTime(difference))
        #expect(walls.0 - walls.1 == difference)
        #expect((walls.0 + right).microseconds == a.saturatingAdding(b))
      }
    }
  }

  @Test func `when a duration is longer than 292 years, then its nanoseconds saturate and its seconds stay exact`() {
    let fourCenturies = Duration.seconds(12_600_000_000)
    #expect(fourCenturies.inNanoseconds == .max)
    #expect((.zero - fourCenturies).inNanoseconds == .min)
    #expect(fourCenturies.inSeconds == 12_600_000_000)
    #expect(Duration.seconds(Int64.max).inMicroseconds == .max)
    #expect(Duration.seconds(Int64.min).inMilliseconds == .min / 1000)
    #expect(Duration.seconds(Int64.min).inSeconds == -9_223_372_036_854_775_808)
  }

  @Test func `when a time is beyond 64 bits of microseconds, then it is rejected`() {
    #expect(WallTime(iso8601: "294247-01-10T04:00:54.775807Z")?.microseconds == .max)
    #expect(WallTime(iso8601: "294247-01-10T04:00:54.775808Z") == nil)
    #expect(WallTime(iso8601: "999999-12-31T23:59:60.999999Z") == nil)
  }
}

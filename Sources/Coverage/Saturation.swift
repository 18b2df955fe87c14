// Arithmetic on numbers from outside: a receiver, a server, a log, a damaged store. The plain operators end the process on
// overflow; the saturating ones stop at the nearest number that exists. Where a wrong figure is worse than none, use the exact ones
// and refuse the value.

extension FixedWidthInteger {
  /// The sum; the greatest or least number where it does not fit.
  public func saturatingAdding(_ other: Self) -> Self {
    let (sum, overflows) = addingReportingOverflow(other)
    guard overflows else { return sum }
    return other < 0 ? .min : .max
  }

  /// The difference; the greatest or least number where it does not fit.
  public func saturatingSubtracting(_ other: Self) -> Self {
    let (difference, overflows) = subtractingReportingOverflow(other)
    guard overflows else { return difference }
    return Self.isSigned && other < 0 ? .max : .min
  }

  /// The product; the greatest or least number where it does not fit.
  public func saturatingMultiplied(by factor: Self) -> Self {
    let (product, overflows) = multipliedReportingOverflow(by: factor)
    guard overflows else { return product }
    return (self < 0) == (factor < 0) ? .max : .min
  }

  /// The sum; `nil` where it does not fit.
  public func exactlyAdding(_ other: Self) -> Self? {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? nil : sum
  }

  /// The product; `nil` where it does not fit.
  public func exactlyMultiplied(by factor: Self) -> Self? {
    let (product, overflows) = multipliedReportingOverflow(by: factor)
    return overflows ? nil : product
  }

  /// The number without its sign; the greatest number for the least one, whose opposite does not exist.
  public var saturatingMagnitude: Self { self < 0 ? Self.zero.saturatingSubtracting(self) : self }

  /// `value` with its fraction cut off; the greatest or least number where it does not fit; `nil` for what is no number.
  public init?(saturating value: Double) {
    guard !value.isNaN else { return nil }
    let whole = value.rounded(.towardZero)
    self = Self(exactly: whole) ?? (whole < 0 ? .min : .max)
  }
}

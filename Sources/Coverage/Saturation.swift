// Arithmetic on numbers from outside: a receiver, a server, a log, a damaged store. The plain operators trap on overflow; the saturating
// ones return the nearest number of the type. Where a wrong figure is worse than none, use the exact ones and refuse the value.

extension FixedWidthInteger {
  /// The sum; on overflow the type's greatest or least number.
  public func saturatingAdding(_ other: Self) -> Self {
    let (sum, overflows) = addingReportingOverflow(other)
    guard overflows else { return sum }
    return other < 0 ? .min : .max
  }

  /// The difference; on overflow the type's greatest or least number.
  public func saturatingSubtracting(_ other: Self) -> Self {
    let (difference, overflows) = subtractingReportingOverflow(other)
    guard overflows else { return difference }
    return Self.isSigned && other < 0 ? .max : .min
  }

  /// The product; on overflow the type's greatest or least number.
  public func saturatingMultiplied(by factor: Self) -> Self {
    let (product, overflows) = multipliedReportingOverflow(by: factor)
    guard overflows else { return product }
    return (self < 0) == (factor < 0) ? .max : .min
  }

  /// The sum; `nil` on overflow.
  func exactlyAdding(_ other: Self) -> Self? {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? nil : sum
  }

  /// The product; `nil` on overflow.
  public func exactlyMultiplied(by factor: Self) -> Self? {
    let (product, overflows) = multipliedReportingOverflow(by: factor)
    return overflows ? nil : product
  }

  /// The absolute value; the greatest number for the least one, whose opposite does not fit.
  public var saturatingMagnitude: Self { self < 0 ? Self.zero.saturatingSubtracting(self) : self }

  /// `value` with its fraction cut off, limited to the range of the type; `nil` for NaN.
  public init?(saturating value: Double) {
    guard !value.isNaN else { return nil }
    let whole = value.rounded(.towardZero)
    self = Self(exactly: whole) ?? (whole < 0 ? .min : .max)
  }
}

// The control of tools/fuzz: Sources/Coverage/Saturation.swift with the arithmetic that the program had before that file, which ends
// the process on overflow. A program that is linked with it has to fail on each target within a minute.

extension FixedWidthInteger {
  public func saturatingAdding(_ other: Self) -> Self { self + other }
  public func saturatingSubtracting(_ other: Self) -> Self { self - other }
  public func saturatingMultiplied(by factor: Self) -> Self { self * factor }
  public func exactlyAdding(_ other: Self) -> Self? { self + other }
  public func exactlyMultiplied(by factor: Self) -> Self? { self * factor }
  public var saturatingMagnitude: Self { self < 0 ? 0 - self : self }

  public init?(saturating value: Double) {
    guard !value.isNaN else { return nil }
    self = Self(value)
  }
}

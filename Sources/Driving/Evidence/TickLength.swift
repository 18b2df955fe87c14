/// The resolution and the origin of an interface's time stamps in pcapng.
struct TickLength: Hashable {
  /// 10^-n seconds; with the highest bit set, 2^-n.
  let resolution: UInt8
  /// Seconds to add to the stamps.
  let offset: Int64

  /// Nanoseconds since the epoch; `nil` before it and beyond the year 2262, so that the difference of two always fits 64 bits.
  func nanoseconds(_ ticks: UInt64) -> Int64? {
    guard let plain = scaled(ticks).flatMap(Int64.init(exactly:)) else { return nil }
    let (shift, overflow) = offset.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflow2) = plain.addingReportingOverflow(shift)
    return overflow || overflow2 || sum < 0 ? nil : sum
  }

  private func scaled(_ ticks: UInt64) -> UInt64? {
    let exponent = Int(resolution & 0x7F)
    if resolution & 0x80 != 0 {
      guard exponent < 64 else { return nil }
      let (seconds, overflow) = (ticks >> UInt64(exponent)).multipliedReportingOverflow(by: 1_000_000_000)
      let fraction = ticks & ((1 << UInt64(exponent)) - 1)
      let product = fraction.multipliedFullWidth(by: 1_000_000_000)
      let nanoseconds = exponent == 0 ? 0 : product.high << UInt64(64 - exponent) | product.low >> UInt64(exponent)
      let (sum, overflow2) = seconds.addingReportingOverflow(nanoseconds)
      return overflow || overflow2 ? nil : sum
    }
    guard exponent <= 28 else { return nil }
    let power = (0..<abs(exponent - 9)).reduce(UInt64(1)) { power, _ in power * 10 }
    if exponent > 9 { return ticks / power }
    let (product, overflow) = ticks.multipliedReportingOverflow(by: power)
    return overflow ? nil : product
  }
}

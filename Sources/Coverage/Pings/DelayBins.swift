/// How many round-trip times fell into each bin: percentiles of the pings of any number of fences can be had from the sums of their bins,
/// which they cannot from the fences' own percentiles.
///
/// A delay counts in whole microseconds, rounded half up. Delays below 128 µs have a bin each; above, each octave has 64 bins of the same
/// width, so a figure that is read from the lower bound of its bin is at most 1/64 below the delay (docs/export.md).
public struct DelayBins: Hashable, Sendable {
  /// A bin with at least one delay.
  private struct Bin: Hashable {
    let number: UInt16
    var count: UInt32
  }

  /// In ascending order of the numbers.
  private var bins: [Bin] = []

  /// The greatest delay that is told apart, in microseconds: no ping waits for an answer this long.
  private static let greatest: Int64 = 1 << 36 - 1

  /// No delays.
  public init() {}

  /// Whether there is no delay.
  public var isEmpty: Bool { bins.isEmpty }

  /// The number of the bin of a delay.
  static func number(nanoseconds: Int64) -> UInt16 {
    let delay = min(max(nanoseconds, 0).saturatingAdding(500) / 1000, greatest)
    let octave = max(0, 57 - delay.leadingZeroBitCount)
    return UInt16(64 * octave + Int(delay >> octave))
  }

  /// The bins in ascending order, each with its lowest delay in whole microseconds and its count.
  public var counts: [(microseconds: Int64, count: Int)] {
    bins.map { bin in
      let octave = max(0, min(Int64(bin.number) / 64 - 1, 29))
      return ((Int64(bin.number) - 64 * octave) << octave, Int(bin.count))
    }
  }

  mutating func add(nanoseconds: Int64) {
    let number = Self.number(nanoseconds: nanoseconds)
    let place = self.place(of: number)
    if place < bins.count, bins[place].number == number {
      bins[place].count = bins[place].count.saturatingAdding(1)
    } else {
      bins.insert(Bin(number: number, count: 1), at: place)
    }
  }

  /// Takes back ``add(nanoseconds:)`` of the same delay.
  mutating func remove(nanoseconds: Int64) {
    let number = Self.number(nanoseconds: nanoseconds)
    let place = self.place(of: number)
    guard place < bins.count, bins[place].number == number else { return }
    if bins[place].count > 1 { bins[place].count -= 1 } else { bins.remove(at: place) }
  }

  /// The index of the first bin whose number is not lower.
  private func place(of number: UInt16) -> Int { bins.partitionPoint({ $0.number < number }) }
}

extension DelayBins: LosslessStringConvertible {
  /// `NUMBER=COUNT` of each bin, in ascending order, separated by spaces. With a colon, GDAL and spreadsheets would take some for times of day.
  public var description: String { bins.map { "\($0.number)=\($0.count)" }.joined(separator: " ") }

  /// `nil` for a text that ``description`` does not give.
  public init?(_ text: String) {
    for word in text.split(separator: " ") {
      let parts = word.split(separator: "=")
      guard parts.count == 2, let number = UInt16(parts[0]), let count = UInt32(parts[1]), count > 0,
        bins.last.map({ $0.number < number }) ?? true
      else { return nil }
      bins.append(Bin(number: number, count: count))
    }
  }
}

/// A rectangle in an R-tree of SQLite, in degrees and in single precision. Rounding goes outwards, so that it is never
/// smaller than the rectangle that it stands for, and a search misses no feature.
struct RTreeBox: Hashable {
  private(set) var minX, maxX, minY, maxY: Float

  /// Takes finite numbers, and no least one above its greatest.
  init(minX: Double, maxX: Double, minY: Double, maxY: Double) {
    self.minX = Self.below(minX)
    self.maxX = Self.above(maxX)
    self.minY = Self.below(minY)
    self.maxY = Self.above(maxY)
  }

  /// The rectangle around both.
  func union(_ other: RTreeBox) -> RTreeBox {
    var union = self
    union.minX = min(minX, other.minX)
    union.maxX = max(maxX, other.maxX)
    union.minY = min(minY, other.minY)
    union.maxY = max(maxY, other.maxY)
    return union
  }

  /// The greatest `Float` that is not above `number`.
  private static func below(_ number: Double) -> Float {
    let near = Float(number)
    return Double(near) > number ? near.nextDown : near
  }

  private static func above(_ number: Double) -> Float { -below(-number) }
}

import Coverage
import Testing

/// The numbers of uploads and of simulations.
@Suite struct SplitMix64Tests {
  @Test("When the seed is 0, then the numbers are those of the algorithm's reference implementation")
  func reference() {
    var generator = SplitMix64(seed: 0)
    let numbers = (0..<3).map { _ in generator.next() }
    #expect(numbers == [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F])
  }

  @Test("When chunks are made, then all byte values are about equally frequent, and two generators differ")
  func payload() {
    var generator = SplitMix64()
    var counts = [Int](repeating: 0, count: 256)
    for _ in 0..<32_768 {
      var number = generator.next()
      for _ in 0..<8 {
        counts[Int(number & 0xFF)] += 1
        number >>= 8
      }
    }
    // 1024 of each are expected, with a standard deviation of 32.
    #expect(counts.allSatisfy { (824...1224).contains($0) }, "\(counts)")
    var other = SplitMix64()
    #expect((0..<8).map { _ in generator.next() } != (0..<8).map { _ in other.next() })
  }
}

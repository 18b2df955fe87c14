import TestSupport
import Testing

@testable import Coverage

/// A fence as a value: drives have thousands of them in memory.
struct FenceValueTests {
  @Test("when a fence has modem figures, then copies have their own, and fences with other figures are unequal")
  func radio() {
    var fence = Fence.sample(radio: .sample)
    let copy = fence
    #expect(fence.radio == .sample && copy == fence && copy.hashValue == fence.hashValue)
    fence.radio?.cellChanges = 7
    #expect(fence.radio?.cellChanges == 7 && copy.radio?.cellChanges == 2 && copy != fence)
    fence.radio = nil
    #expect(fence == .sample() && fence.radio == nil)
  }

  @Test("when a fence has no modem figures, then their field takes eight bytes")
  func size() {
    #expect(MemoryLayout<OnHeap<FenceRadio>?>.size == 8)
    #expect(MemoryLayout<Fence>.stride <= 304)
  }
}

import TestSupport
import Testing

@testable import Coverage

/// A fence as a value: drives have thousands of them in memory.
struct FenceValueTests {
  @Test("when a fence has a modem's figures, then they are kept as they are, in copies too, and tell fences apart")
  func radio() {
    var fence = Fence.sample(radio: .sample)
    let copy = fence
    #expect(fence.radio == .sample && copy == fence && copy.hashValue == fence.hashValue)
    fence.radio?.cellChanges = 7
    #expect(fence.radio?.cellChanges == 7 && copy.radio?.cellChanges == 2 && copy != fence)
    fence.radio = nil
    #expect(fence == .sample() && fence.radio == nil)
  }

  @Test("when a fence has no modem's figures, then they take eight bytes of it")
  func size() {
    #expect(MemoryLayout<OnHeap<FenceRadio>?>.size == 8)
    #expect(MemoryLayout<Fence>.stride <= 288)
  }
}

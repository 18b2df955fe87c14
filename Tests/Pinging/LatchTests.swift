import Foundation
import Testing

@testable import Pinging

/// The latch at which threads of a speed test wait.
struct LatchTests {
  @Test("when a latch stays closed, then a wait ends at its time; when it is open, then waits return at once")
  func alone() {
    let latch = Latch()
    #expect(!latch.wait(nanoseconds: 1_000_000) && !latch.wait(nanoseconds: 0) && !latch.wait(nanoseconds: .min))
    latch.open()
    latch.open()
    #expect(latch.wait(nanoseconds: .max) && latch.wait(nanoseconds: 0))
  }

  @Test("when several threads wait, then opening it ends all waits; a latch that was never opened can be released")
  func several() async {
    let latch = Latch()
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<4 {
        group.addTask {
          await withCheckedContinuation { continuation in
            Thread.detachNewThread {
              if number == 3 { latch.open() }
              continuation.resume(returning: latch.wait(nanoseconds: 60_000_000_000))
            }
          }
        }
      }
      for await isOpen in group { #expect(isOpen) }
    }
    _ = Latch()
  }
}

import Foundation
import Testing

@testable import SpeedTest

@Suite struct StallWatchTests {
  @Test("when the process runs on, then there is no stall, and the handler is not called")
  func none() {
    let watch = StallWatch { Issue.record("a stall was reported") }
    #expect(!watch.end())
    #expect(!watch.end(), "a second end returns the same")
  }
}

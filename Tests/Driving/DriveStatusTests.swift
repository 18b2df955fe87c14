import Coverage
import Testing

@testable import Driving

struct DriveStatusTests {
  @Test("when there is no test to send pings on, then the status says so, but not on Wi-Fi", arguments: Path.allCases)
  func missingTest(path: Path) {
    let warning = DriveStatus.warning(ofMissingTest: true, isRefused: false, on: path)
    #expect(warning == (path == .wifi ? nil : "waiting for a test"))
  }

  @Test("when the ping server refuses one test after the other, then the status says so between them too")
  func refusedTest() {
    for isMissing in [true, false] {
      let warning = DriveStatus.warning(ofMissingTest: isMissing, isRefused: true, on: .cellular)
      #expect(warning == "the ping server refuses the test's token")
    }
    #expect(DriveStatus.warning(ofMissingTest: true, isRefused: true, on: .wifi) == nil)
  }

  @Test("when pings are sent on a test, then there is no warning")
  func measuring() {
    #expect(DriveStatus.warning(ofMissingTest: false, isRefused: false, on: .cellular) == nil)
  }
}

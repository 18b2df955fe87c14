import Coverage
import TestSupport
import Testing

@testable import SpeedTest

/// The load of a test as the coverage drive beside it sees it.
@Suite struct LoadReportTests {
  private final class Observer: TestObserver {
    let parts = Collected<SpeedTestDelay.Part?>()

    func testBegan() {}
    func test(loads part: SpeedTestDelay.Part?) { parts.append(part) }
    func testEnded() {}
    func delays() async -> [SpeedTestDelay] { [] }
  }

  private static let delays = SpeedTestDelay.Part.allCases.map { SpeedTestDelay($0, roundTrips: [1], lost: 0) }

  @Test("When a pre-test runs, then the link has its load, and the main phase begins the part again")
  func preTests() {
    let observer = Observer()
    let loads = LoadReport(observer)
    for phase in SpeedTestProgress.Phase.allCases { loads.enter(phase) }
    #expect(observer.parts.all == [nil, .download, nil, nil, .download, .upload, nil, .upload, nil])
    #expect(loads.measured(Self.delays) == Self.delays)
  }

  @Test("When several threads enter a phase, then the first one counts")
  func threads() {
    let observer = Observer()
    let loads = LoadReport(observer)
    for phase: SpeedTestProgress.Phase in [.uploadPreTest, .uploadPreTest, .upload, .upload, .upload] {
      loads.enter(phase)
    }
    #expect(observer.parts.all == [.upload, nil, .upload])
  }

  @Test("When a test ends in a pre-test, then it has no delays of that part")
  func onlyPreTest() {
    let loads = LoadReport(nil)
    for phase: SpeedTestProgress.Phase in [.connecting, .downloadPreTest, .ping, .download, .uploadPreTest] {
      loads.enter(phase)
    }
    #expect(loads.measured(Self.delays).map(\.part) == [.idle, .download])
  }
}

import Coverage
import Driving
import Looping
import Synchronization

/// Tells the running drive of speed tests.
final class DriveCompanion: TestCompanion {
  private let drive = Mutex<LiveDrive?>(nil)

  /// The drive that runs from now on; `nil` for none.
  func follow(_ drive: LiveDrive?) { self.drive.withLock { $0 = drive } }

  private var current: LiveDrive? { drive.withLock { $0 } }

  func testBegan() { current?.speedTestBegan() }

  func test(loads part: SpeedTestDelay.Part?) { current?.speedTest(loads: part) }

  func testEnded() async -> [SpeedTestDelay] { await current?.speedTestEnded() ?? [] }
}

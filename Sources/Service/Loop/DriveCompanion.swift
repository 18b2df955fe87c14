import Coverage
import Driving
import SpeedTest
import Synchronization

/// Connects speed tests with the running drive, which pauses or marks its pings. The service or `record` sets the drive; tests
/// call from their own tasks. Without a drive, calls do nothing.
package final class DriveCompanion: TestCompanion {
  private let drive = Mutex<LiveDrive?>(nil)

  /// The drive that runs from now on; `nil` for none.
  package func follow(_ drive: LiveDrive?) { self.drive.withLock { $0 = drive } }

  private var current: LiveDrive? { drive.withLock { $0 } }

  package func testBegan() { current?.speedTestBegan() }

  package func test(loads part: SpeedTestDelay.Part?) { current?.speedTest(loads: part) }

  package func testEnded() async -> [SpeedTestDelay] { await current?.speedTestEnded() ?? [] }
}

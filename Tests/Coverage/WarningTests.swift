import Testing

@testable import Coverage

/// Warnings of a missing position (docs/algorithm.md, 8) and their part of a summary.
@Suite struct WarningTests {
  var drive = DriveScript()

  @Test mutating func `when a precise fix comes within three seconds, then there is no warning`() {
    drive.fix(at: 1, accuracy: 50)
    drive.fix(at: 2.9)
    drive.nothing(until: 100)
    #expect(drive.warnings.isEmpty)
  }

  @Test mutating func `when no precise fix comes, then the warning starts after three seconds and ends with the fix`() {
    drive.fix(at: 8.2)
    drive.nothing(until: 100)
    #expect(drive.warnings == [Heed(.waitingForGPS, 3, 8.2)])
  }

  @Test mutating func `when inaccurate fixes come from the start, then the warning still starts after three seconds`() {
    for second in 0..<6 { drive.fix(at: Double(second) + 0.5, accuracy: 60) }
    drive.fix(at: 7)
    #expect(drive.warnings == [Heed(.waitingForGPS, 3, 7)])
  }

  @Test mutating func `when the position is lost later, then the warning starts at once`() {
    drive.fix(at: 1)
    drive.fix(at: 20, accuracy: 50)
    drive.fix(at: 21, accuracy: 60)
    drive.fix(at: 24)
    drive.fixLost(at: 30)
    drive.fix(at: 31)
    #expect(drive.warnings == [Heed(.waitingForGPS, 20, 24), Heed(.waitingForGPS, 30, 31)])
  }

  @Test mutating func `when a warning lasts to the end of the drive, then it has no end`() {
    drive.fix(at: 1)
    drive.path(at: 5, .wifi)
    drive.fixLost(at: 6)
    drive.stop(at: 10)
    #expect(drive.warnings == [Heed(.wifi, 5, nil), Heed(.waitingForGPS, 6, nil)])
  }

  @Test mutating func `when Wi-Fi comes and goes, then each time on Wi-Fi is a warning`() {
    drive.fix(at: 1)
    drive.path(at: 40, .wifi)
    drive.path(at: 55.1, .cellular)
    drive.path(at: 60, .offline)
    drive.path(at: 70, .wifi)
    #expect(drive.warnings == [Heed(.wifi, 40, 55.1), Heed(.wifi, 70, nil)])
  }

  @Test func `when the operator sets another delay, then the warning starts after it`() {
    var drive = DriveScript { $0.warningAfter = .seconds(10) }
    drive.fix(at: 4, accuracy: 50)
    drive.fix(at: 12)
    #expect(drive.warnings == [Heed(.waitingForGPS, 10, 12)])
  }

  @Test mutating func `when the drive gives up, then its warning has no end`() {
    drive.nothing(until: 1_800)
    #expect(drive.warnings == [Heed(.waitingForGPS, 3, nil)])
  }
}

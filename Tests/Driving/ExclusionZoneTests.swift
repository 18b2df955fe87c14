import Coverage
import Testing

@testable import Driving
@testable import Positioning
@testable import Settings

struct ExclusionZoneTests {
  private let home = Coordinate(latitude: 48.2, longitude: 16.3)

  private func zones() throws -> ExclusionZones {
    ExclusionZones([ExclusionZone(centre: try #require(home), radius: 200)])
  }

  /// A position `metres` north of home.
  private func position(_ metres: Double, accuracy: Double? = 3) -> PositioningEvent {
    let place = Coordinate(latitude: 48.2 + metres / 111_200, longitude: 16.3)
    return .fix(
      PositionedFix(
        fix: Fix(coordinate: place, accuracy: accuracy), arrival: .now, report: TPV(), dilution: Dilution(hdop: 1)))
  }

  @Test("when the way leads through a zone, then the position is lost once, and comes back outside the zone")
  func through() throws {
    var zones = try zones()
    var passed: [Fix?] = []
    for metres in [-400.0, -250, -150, 0, 150, 250] {
      if case .fix(let positioned)? = zones.pass(position(metres)) {
        passed.append(positioned.fix)
      } else {
        passed.append(nil)
      }
    }
    #expect(passed.map { $0?.coordinate != nil } == [true, true, false, false, false, true])
    #expect(passed[2] == .lost)
    #expect(passed[3] == nil && passed[4] == nil)
  }

  @Test("when a position may be inside, then it counts as inside")
  func doubtful() throws {
    var zones = try zones()
    _ = zones.pass(position(205, accuracy: 3))
    #expect(!zones.isInside)
    _ = zones.pass(position(205, accuracy: 12))
    #expect(zones.isInside)
  }

  @Test("when a position inside is lost, then no data of the receiver is left")
  func nothingLeft() throws {
    var zones = try zones()
    guard case .fix(let positioned)? = zones.pass(position(10)) else {
      Issue.record("the loss is not reported")
      return
    }
    #expect(positioned.report == nil && positioned.dilution == nil)
    #expect(positioned.fix == .lost)
  }

  @Test("when the receiver reports another event, then that event passes")
  func others() throws {
    var zones = try zones()
    #expect(zones.pass(.status(.noFix)) == .status(.noFix))
  }
}

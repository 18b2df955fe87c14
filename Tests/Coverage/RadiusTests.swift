import Testing

@testable import Coverage

/// Radius = max(minimum, 10 + 2·accuracy, speed · 1 s) (docs/algorithm.md, 2).
@Suite struct RadiusTests {
  @Test(arguments: [
    (8.0, 4.0, 26.0),  // the table of docs/algorithm.md, 2
    (1, 0, 15),  // and its second line: 10 + 2 = 12, less than the minimum
    (2.5, 0, 15),  // exactly the minimum
    (2.6, 0, 15.2),
    (15, 0, 40),
    (0, 0, 15),
    (5, 20, 20),
    (5, 20.5, 20.5),
    (15, 41, 41),
    (15, 39.9, 40),
    (5, -1, 20),  // phones report -1 for an unknown speed
    (5, .nan, 20),
    (5, .infinity, 20),
    (5, -.infinity, 20),
    (.nan, 17, 17),
    (.infinity, 0, 15),
    (-3, 0, 15),
    (-3, 33, 33),
  ])
  func `when accuracy and speed are known or impossible, then the radius follows the rule`(
    accuracy: Double, speed: Double, radius: Double
  ) {
    let fix = Fix(coordinate: Ground.vienna.place(north: 0, east: 0), accuracy: accuracy, speed: speed)
    #expect(abs(Parameters().radius(of: fix) - radius) < 1e-12)
  }

  @Test(
    "when a speed is impossible, then it does not set the radius",
    arguments: [
      (170, 170), (170.1, 20), (5000, 20), (1e300, 20),
    ] as [(Double, Double)])
  func speedLimit(speed: Double, radius: Double) {
    let fix = Fix(coordinate: Ground.vienna.place(north: 0, east: 0), accuracy: 5, speed: speed)
    #expect(Parameters().radius(of: fix) == radius)
    var parameters = Parameters()
    parameters.speedLimit = nil
    #expect(parameters.radius(of: fix) == max(20, speed))
  }

  @Test func `when neither accuracy nor speed is known, then the radius is the minimum`() {
    #expect(Parameters().radius(of: Fix(coordinate: nil)) == 15)
  }

  @Test func `when the operator sets another minimum radius, then it applies`() {
    var parameters = Parameters()
    parameters.minimumRadius = 50
    #expect(parameters.radius(of: Fix(coordinate: nil, accuracy: 15, speed: 45)) == 50)
    parameters.minimumRadius = 1
    #expect(parameters.radius(of: Fix(coordinate: nil, accuracy: 1, speed: 2)) == 12)
  }

  @Test func `when no parameter is set, then the defaults are those of the reference`() {
    let parameters = Parameters()
    #expect(parameters.minimumRadius == 15)
    #expect(parameters.accuracyLimit == 15)
    #expect(parameters.warningAfter == .seconds(3))
    #expect(parameters.giveUpAfter == .seconds(1800))
    #expect(parameters.maximumDuration == .seconds(14400))
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, -1, -0.001])
  func `when a value is impossible, then the fix drops it`(value: Double) {
    let fix = Fix(coordinate: nil, accuracy: value, course: value, speed: value)
    #expect(fix.accuracy == nil)
    #expect(fix.course == nil)
    #expect(fix.speed == nil)
  }

  @Test func `when the altitude is below sea level, then it is kept`() {
    #expect(Fix(coordinate: nil, altitude: -413.5).altitude == -413.5)
    #expect(Fix(coordinate: nil, altitude: .nan).altitude == nil)
  }
}

import Testing

@testable import Coverage

/// Pings that the host could not send: missing coverage, or a fault of the host (docs/algorithm.md, 4.1).
struct UnsentPingTests {
  typealias Case = (refusal: UnsentPing.Refusal, noWay: NoWay?, hasService: Bool?, isLost: Bool)

  /// The whole decision. The last column: the ping is lost, as the network is missing.
  private static let cases: [Case] = [
    // The modem disconnects without a network: no route, or no link.
    (.noWay, .noRoute, nil, true), (.noWay, .noRoute, true, true), (.noWay, .noRoute, false, true),
    // A dial-up interface goes with its connection; that of another modem goes with the device.
    (.noWay, .noInterface(isDialled: true), nil, true), (.noWay, .noInterface(isDialled: false), nil, false),
    (.noWay, .noInterface(isDialled: false), true, false), (.noWay, .noInterface(isDialled: false), false, true),
    // A rule of this host says nothing about the network.
    (.noWay, .forbidden, nil, false), (.noWay, .forbidden, true, false), (.noWay, .forbidden, false, true),
    // The network works with the other IP version.
    (.noWay, .deadEnd, nil, false), (.noWay, .deadEnd, true, false), (.noWay, .deadEnd, false, true),
    (.noWay, .otherFamily, nil, false), (.noWay, .otherFamily, true, false),
    // The routing table shows a way, or cannot be read.
    (.noWay, nil, nil, false), (.noWay, nil, true, false), (.noWay, nil, false, true), (.noWay, .unknown, nil, false),
    // A modem without service takes no packets; a full queue alone shows nothing.
    (.full, nil, nil, false), (.full, nil, true, false), (.full, nil, false, true),
    // Firewall, memory, settings.
    (.host, nil, nil, false), (.host, .noRoute, nil, false), (.host, nil, false, false),
    (.host, .noRoute, false, false),
  ]

  @Test("when a ping could not be sent, then it is lost only where the network is missing", arguments: cases)
  func decision(refusal: UnsentPing.Refusal, noWay: NoWay?, hasService: Bool?, isLost: Bool) {
    let ping = UnsentPing(refusal, noWay: noWay, hasService: hasService)
    #expect(ping.outcome == (isLost ? .failed(.network) : .unsent()))
  }

  @Test("when a modem says how it is registered, then searching, denied and emergency mean no service")
  func service() {
    func hasService(_ registration: ModemReading.Registration?) -> Bool? {
      var reading = ModemReading()
      reading.registration = registration
      return reading.hasService
    }
    #expect([.home, .roaming].allSatisfy { hasService($0) == true })
    #expect([.searching, .denied, .emergency].allSatisfy { hasService($0) == false })
    #expect([.idle, nil].allSatisfy { hasService($0) == nil })
  }

  // MARK: Fences

  private func fence(_ script: (inout DriveScript) -> Void) -> Fence {
    var drive = DriveScript()
    drive.fix(at: 1)
    script(&drive)
    drive.fix(at: 10, north: 100)
    drive.stop(at: 11)
    return drive.engine.fences[0]
  }

  @Test("when no ping of a fence could be sent, then the fence is no dead zone and is not submitted")
  func unmeasured() {
    let fence = fence { drive in for second in 2..<6 { drive.unsentPing(at: Double(second)) } }
    #expect((fence.pings, fence.figures.unsent) == (0, 4))
    #expect(fence.isUnmeasured && !fence.isSubmittable)
  }

  @Test("when all sent pings of a fence are lost, then it is a dead zone unless more could not be sent")
  func mixed() {
    func fence(lost: Int, unsent: Int, answered: Int = 0) -> Fence {
      self.fence { drive in
        for number in 0..<lost { drive.failedPing(at: 2 + Double(number) / 10) }
        for number in 0..<unsent { drive.unsentPing(at: 4 + Double(number) / 10) }
        for number in 0..<answered { drive.ping(at: 6 + Double(number) / 10) }
      }
    }
    #expect(fence(lost: 3, unsent: 3).isSubmittable && fence(lost: 3, unsent: 0).isSubmittable)
    #expect(!fence(lost: 3, unsent: 4).isSubmittable)
    #expect(fence(lost: 0, unsent: 9, answered: 1).isSubmittable)
  }

  @Test("when a fence without a ping overlaps a pause of the probe's own, then it is not submitted; with a ping it is")
  func pause() {
    #expect(fence { _ in }.isSubmittable, "a request without an answer can be missing coverage")
    #expect(!fence { $0.pause(at: 2, "x") }.isSubmittable)
    #expect(
      fence { drive in
        drive.ping(at: 2)
        drive.pause(at: 3, "x")
      }.isSubmittable)
    #expect(
      fence { drive in
        drive.pause(at: 2, "x")
        drive.pause(at: 3, nil)
        drive.failedPing(at: 4)
      }.isSubmittable)
    var drive = DriveScript()
    drive.pause(at: 0.5, "x")
    drive.fix(at: 1)
    drive.pause(at: 5, nil)
    drive.fix(at: 10, north: 100)
    drive.fix(at: 12, north: 200)
    #expect(drive.engine.fences.map(\.isSubmittable) == [false, true, true])
  }

  @Test("when pings could not be sent, then the drive's counts have them apart, also after a late fix")
  func counts() {
    var drive = DriveScript()
    drive.fix(at: 1)
    drive.ping(at: 2)
    drive.unsentPing(at: 3, count: 5)
    #expect((drive.engine.pings.all, drive.engine.pings.unsent, drive.engine.pings.unassigned) == (1, 5, 0))
    let place = Ground.vienna.place(north: 100, east: 0)
    let fix = Event.Kind.fix(Fix(coordinate: place, accuracy: 5))
    _ = drive.handle(Event(at: DriveTime(seconds: 2.5), fix, delivered: DriveTime(seconds: 3.1)))
    #expect(drive.engine.pings.unsent == 5)
    #expect(drive.engine.fences.map(\.figures.unsent) == [0, 5])
  }

  @Test("when the counts of a log are absurd, then they saturate")
  func absurd() {
    let fence = fence { drive in for second in 2..<5 { drive.unsentPing(at: Double(second), count: .max) } }
    #expect(fence.figures.unsent == .max && !fence.isSubmittable)
  }
}

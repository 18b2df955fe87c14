import Coverage
import Foundation
import Store
import TestSupport

/// A drive along a road: its log, and the fences from its events.
struct Road {
  let log: Data
  let engine: Engine
  let header: DriveLogHeader
  var ended: [Fence] { engine.fences.filter { $0.exited != nil } }

  /// - Parameters:
  ///   - test: The test that the server grants after two seconds; `nil`: none.
  ///   - laterTest: The test that the server grants in the middle; it begins a second session.
  ///   - isCut: Whether the log ends without a stop.
  ///   - target: The user's own target of the pings.
  ///   - start: Moves the coordinates, so that no two roads are the same.
  init(
    fences: Int, started: WallTime = .sampleStart, test: String? = "T", laterTest: String? = nil, isCut: Bool = false,
    start: Double = 0, target: DriveTarget? = nil
  ) throws {
    header = DriveLogHeader(
      started: started, initialPath: .cellular, parameters: Parameters(),
      pings: .init(interval: .milliseconds(100), timeout: .seconds(1)), target: target)
    let folder = try TemporaryFolder()
    let path = folder.file("drive.jsonl")
    var engine = Engine()
    do {
      let writer = try DriveLogWriter(path: path, header: header)
      func record(_ event: Event) throws {
        try writer.append(event)
        let effects = engine.handle(event)
        let isUrgent = effects.contains {
          switch $0 {
          case .fenceClosed, .stopped, .sessionBegan, .sessionChanged: true
          case .fenceRevised: false
          }
        }
        if isUrgent { try writer.seal(at: engine.now) }
      }
      // A fix each second, 12 m from the last: a fence of 20 m lasts two seconds.
      for second in 0...(fences * 2 + 1) {
        let at = DriveTime.seconds(Double(second))
        let place = Coordinate(latitude: 48.2 + start + Double(second) * 12 / 111_200, longitude: 16.37)
        try record(Event(at: at, .fix(Fix(coordinate: place, accuracy: 5, speed: 12))))
        if second == 2, let test { try record(Event(at: at, .session(SessionGrant(testUUID: test)))) }
        if second == fences, let laterTest { try record(Event(at: at, .session(SessionGrant(testUUID: laterTest)))) }
        for ping in 1...4 {
          let sent = DriveTime.seconds(Double(second) + Double(ping) / 5)
          try record(
            Event(
              at: sent,
              .ping(.answered(rttNanoseconds: Int64(30_000_000 + second * 1000 + ping), isKernelStamped: true))))
        }
      }
      if !isCut { try record(Event(at: .seconds(Double(fences * 2 + 2)), .stop(.user))) }
      try writer.sync()
    }
    self.engine = engine
    log = try Data(contentsOf: URL(fileURLWithPath: path))
  }
}

import Coverage
import Export
import Foundation
import Store

/// The law of a made-up drive: log-normal delays and losses, both correlated in time.
struct Law {
  /// The duration, in minutes, and the correlation time of delays and of losses, in seconds; 0: independent pings.
  let minutes: Int
  let correlation: Double
  /// The median of the delays, in milliseconds.
  var median = 40.0
  /// The share of lost pings.
  var loss = 0.02

  /// The standard deviation of the delays' logarithm.
  static let spread = 0.4
  /// Pings a second.
  static let rate = 10

  var mean: Double { median * exp(Self.spread * Self.spread / 2) }
  var percentile95: Double { median * exp(1.6448536269514722 * Self.spread) }
}

/// The events of a drive northwards at 13 m/s, and the fences that the engine cuts from them.
struct MadeUpDrive {
  private let events: [Event]
  private let fences: [Fence]
  private let id: Int64

  /// - Parameter id: Its number in the store.
  init(_ law: Law, id: Int64, random: inout SplitMix64) {
    let memory = law.correlation > 0 ? exp(-1 / (law.correlation * Double(Law.rate))) : 0
    var (level, isLost) = (random.normal(), random.fraction() < law.loss)
    var events: [Event] = []
    events.reserveCapacity(law.minutes * 60 * (Law.rate + 1))
    for second in 0..<law.minutes * 60 {
      let place = Coordinate(latitude: 48 + Double(second) * 13 / 111_195, longitude: 16)
      events.append(Event(at: DriveTime(.seconds(second)), .fix(Fix(coordinate: place, accuracy: 4, speed: 13))))
      for tenth in 0..<Law.rate {
        level = memory * level + (1 - memory * memory).squareRoot() * random.normal()
        // Losses stay lost, and answers stay answers, by the same correlation.
        isLost = random.fraction() < memory ? isLost : random.fraction() < law.loss
        let delay = Int64(law.median * exp(Law.spread * level) * 1e6)
        events.append(
          Event(
            at: DriveTime(microseconds: Int64(second) * 1_000_000 + Int64(tenth) * 100_000 + 50_000),
            .ping(isLost ? .failed(.timeout) : .answered(rttNanoseconds: delay, isKernelStamped: true))))
      }
    }
    events.append(Event(at: DriveTime(.seconds(law.minutes * 60)), .stop(.user)))
    var engine = Engine(path: .cellular)
    for event in events { _ = engine.handle(event) }
    fences = engine.fences.filter { $0.exited != nil }
    (self.events, self.id) = (events, id)
  }

  /// Its figures, and its fences in a comparison.
  func part(_ comparison: inout PlaceComparison, _ side: PlaceComparison.Side) throws -> Report.Part {
    var figures = ReportFigures()
    let started = WallTime(microseconds: 1_795_168_800_000_000 + id * 86_400_000_000)
    for fence in fences {
      figures.add(
        StoredFence(
          id: Int64(fence.number), session: StoredSession(id: id, drive: id, driveStarted: started), fence: fence))
      comparison.add(fence, to: side)
    }
    figures.endFences()
    try figures.addLog(of: id, parameters: Parameters(), initialPath: .cellular) { try events.forEach($0) }
    return Report.Part(title: "\(id)", figures: figures)
  }
}

extension SplitMix64 {
  /// At least 0, below 1.
  mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }

  /// Of the normal distribution, by Box and Muller.
  mutating func normal() -> Double {
    (-2 * log(1 - fraction())).squareRoot() * cos(2 * Double.pi * fraction())
  }
}

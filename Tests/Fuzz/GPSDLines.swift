import Coverage
import OrderedJSON
import Store

@testable import Positioning

/// The lines of gpsd, from the first one to fences.
enum GPSDLines: FuzzTarget {
  /// Pauses between lines. A line's length selects one, so that time is part of the input.
  private static let pauses: [Duration] = [
    .zero, .milliseconds(1), .milliseconds(40), .milliseconds(250), .seconds(1), .seconds(1), .seconds(6),
    .seconds(3600),
  ]
  private static let start = HostTime(instant: .now, wall: WallTime(microseconds: 1_795_168_800_000_000))

  static var seeds: [[UInt8]] {
    let greeting =
      #"{"class":"VERSION","release":"3.22"}"# + "\n" + #"{"class":"WATCH","enable":true,"json":true}"# + "\n"
    // Pieces of recordings, of some seconds each. Lists of satellites would take most of the time and test nothing new.
    let recordings = fixtures("gpsd", suffix: ".json").flatMap { file -> [[UInt8]] in
      let lines = file.split(separator: UInt8(ascii: "\n")).filter { $0.count < 500 }
      return stride(from: 0, to: lines.count, by: max(8, lines.count / 3)).map { first in
        Array(greeting.utf8) + lines[first...].prefix(4).flatMap { $0 + [UInt8(ascii: "\n")] }
      }
    }
    let fixes = (0..<4).map { second in
      """
      {"class":"TPV","device":"/dev/ttyUSB0","mode":3,"time":"2026-11-20T10:00:0\(second).000Z","lat":48.20\(second)1,\
      "lon":16.3738,"altMSL":171.3,"track":87.0,"speed":13.4,"eph":8.1,"epx":3.0,"epy":4.0}

      """
    }.joined()
    let devices = """
      {"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/ttyUSB0","driver":"u-blox","activated":"2026-11-20T10:00:00Z","cycle":1.0}]}
      {"class":"SKY","device":"/dev/ttyUSB0","hdop":0.9}

      """
    let one = #"{"class":"TPV","mode":3,"time":"2026-11-20T10:00:00Z","lat":48.2,"lon":16.3,"eph":5}"# + "\n"
    return recordings + [Array((greeting + devices + fixes).utf8), Array(one.utf8)]
  }

  static let words = [
    #""class":"TPV""#, #""class":"SKY""#, #""class":"DEVICES""#, #""class":"DEVICE""#, #""class":"ERROR""#, "\"time\":",
    "\"mode\":3", "\"lat\":", "\"lon\":", "\"eph\":", "\"epx\":", "\"epy\":", "\"speed\":", "\"track\":", "\"cycle\":",
    "\"hdop\":", "\"activated\":0", "\"2400-01-01T00:00:00Z\"", "\"0001-01-01T00:00:00Z\"", "2400-", "1600-", "1e308",
    "-1e308", "1e-308",
    "9223372036854775807", "-9223372036854775808", "4294967296", "\n",
  ]

  static func run(_ input: [UInt8]) {
    var configuration = GPSDConfiguration()
    configuration.maximumSpeed = input.count.isMultiple(of: 2) ? 90 : nil
    var conversation = GPSDConversation(configuration: configuration, timings: Timings(), startingAt: start)
    var drive = Road()
    var now = start
    drive.take(conversation.start(at: now), at: now)
    drive.take(conversation.step(.connected, at: now), at: now)
    for line in input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).prefix(200) {
      let next = later(now, by: pauses[line.count % pauses.count])
      // Meets the deadlines on the way, eight at most: a state that always has a due deadline would never end.
      for _ in 0..<8 where conversation.nextDeadline < next.instant {
        now = later(now, by: max(.zero, conversation.nextDeadline - now.instant))
        drive.take(conversation.step(.tick, at: now), at: now)
      }
      now = next
      drive.take(conversation.step(.bytes(line + [UInt8(ascii: "\n")]), at: now), at: now)
    }
    // Delivers the last epoch.
    now = later(now, by: .seconds(2))
    drive.take(conversation.step(.tick, at: now), at: now)
    drive.take(conversation.finish(), at: now)
    drive.end()
  }

  private static func later(_ time: HostTime, by duration: Duration) -> HostTime {
    HostTime(instant: time.instant + duration, wall: time.wall + DriveTime(duration))
  }

  /// The drive that handles the effects.
  private struct Road {
    var engine = Engine()
    var clock = WallClock()

    mutating func take(_ effects: [GPSDConversation.Effect], at now: HostTime) {
      for effect in effects {
        switch effect {
        case .connect, .send, .disconnect: break
        case .log(let status, leftOut: _): _ = "\(status)"
        case .deliver(.status(let status)): _ = "\(status)"
        case .deliver(.counters(let counters)): _ = counters.refusals
        case .deliver(.satellites(let satellites)): _ = satellites.seen - satellites.used
        case .deliver(.fix(let positioned)): take(positioned)
        case .deliver(.clock(let reading)):
          let boot = reading.arrival - start.instant
          clock.note(gnss: reading.time, receiver: reading.device, at: boot)
          _ = "\(clock.select(host: now.wall, at: boot))"
        }
      }
    }

    private mutating func take(_ positioned: PositionedFix) {
      let at = DriveTime(positioned.arrival - start.instant)
      _ = engine.handle(Event(at: at, .fix(positioned.fix)))
      _ = engine.handle(Event(at: at + .milliseconds(50), .ping(.answered(rttNanoseconds: 31_000_000))))
      if let difference = positioned.clockDifference {
        _ = JSON.seconds(difference).text
      }
    }

    mutating func end() {
      _ = engine.handle(Event(at: engine.now, .stop(.user)))
      for fence in engine.fences { _ = Sent.text(fence, of: engine) }
    }
  }
}

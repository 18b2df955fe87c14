import Coverage
import Foundation

@testable import SpeedTest

/// A plain model of a loop, independent of ``LoopCoordinator``: it stores the whole history and no state, and answers
/// each question by searching the history. It measures in seconds and metres on a line, and has no memory, no usage
/// and no latch.
struct LoopModel {
  enum Entry: Hashable {
    case suspended, restarted
    case input(LoopInput)
    /// Position in metres; `nil` for an inaccurate fix.
    case fix(metres: Double?)
    case charged(bytes: Int64)
    case output(LoopEffect)
  }

  struct Line: Hashable {
    /// Seconds since the loop's start, across boots.
    let time: Double
    let awake: Double
    let wall: WallTime?
    let entry: Entry
  }

  let count: Int
  let every: Double?
  let distance: Double?
  let duration: Double
  let endsAtRestart: Bool
  let allowsOtherLinks: Bool
  let dayLimit: Int64?
  let monthLimit: Int64?
  private(set) var history: [Line] = []
  private var now = Line(time: 0, awake: 0, wall: nil, entry: .restarted)

  init(_ rules: LoopRules) {
    count = rules.count
    every = rules.every?.inSeconds
    distance = rules.distance
    duration = rules.duration.inSeconds
    endsAtRestart = rules.afterRestart == .end
    allowsOtherLinks = rules.allowsOtherLinks
    (dayLimit, monthLimit) = (rules.data.day, rules.data.month)
  }

  /// - Parameter suspended: Seconds of suspend since the last step.
  mutating func step(_ entry: Entry, time: Double, awake: Double, wall: WallTime?, suspended: Double) -> [LoopEffect] {
    now = Line(time: time, awake: awake, wall: wall, entry: .restarted)
    let known = history.count
    if !isOver { happens(entry, suspended: suspended) } else { note(entry) }
    let outputs = history[known...].compactMap { if case .output(let effect) = $0.entry { effect } else { nil } }
    return outputs.filter(\.isAbort) + outputs.filter { !$0.isAbort }
  }

  private mutating func happens(_ entry: Entry, suspended: Double) {
    if entry == .restarted {
      if let running {
        note(.charged(bytes: max(0, (largestTest ?? 100_000_000) - bytes(ofTest: running))))
        output(.abortTest(number: running, .restarted))
      }
    } else {
      if suspended >= 1 {
        if let running { output(.abortTest(number: running, .suspended)) }
        note(.suspended)
      }
      if let running, let start, now.time - start.time >= 600 { output(.abortTest(number: running, .overdue)) }
    }
    if now.time >= duration { return end(.duration) }
    if running == nil, starts == count { return end(.count) }
    if entry == .restarted, endsAtRestart { return end(.restart) }
    note(entry)
    switch entry {
    case .input(.pause): if let running { output(.abortTest(number: running, .paused)) }
    case .input(.sleep): if let running { output(.abortTest(number: running, .asleep)) }
    case .input(.stalled(let number)):
      if let running, running == number { output(.abortTest(number: running, .suspended)) }
    case .input(.stop): return end(.user)
    default: break
    }
    if running == nil, starts == count { return end(.count) }
    guard running == nil, isDue else { return }
    guard let hold else { return output(.startTest(number: starts + 1, loopUUID: name)) }
    if !wasNoticed(hold), now.time - (lastNotice ?? -1e9) >= 600 { output(.notice(notice(of: hold))) }
  }

  private mutating func note(_ entry: Entry) {
    history.append(Line(time: now.time, awake: now.awake, wall: now.wall, entry: entry))
  }

  private mutating func output(_ effect: LoopEffect) { note(.output(effect)) }

  private mutating func end(_ reason: LoopEnd) {
    if let running { output(.abortTest(number: running, .ended)) }
    output(.ended(reason))
  }

  // MARK: Questions to the history

  var isOver: Bool { history.contains { if case .output(.ended) = $0.entry { true } else { false } } }

  private var start: Line? {
    history.last { if case .output(.startTest) = $0.entry { true } else { false } }
  }

  private var startIndex: Int {
    history.lastIndex { if case .output(.startTest) = $0.entry { true } else { false } } ?? -1
  }

  var starts: Int { history.count { if case .output(.startTest) = $0.entry { true } else { false } } }

  /// The number of the running test: nothing after its start ended it.
  var running: Int? {
    guard starts > 0 else { return nil }
    let ended = history[startIndex...].contains { line in
      switch line.entry {
      case .output(.abortTest): true
      case .input(.testEnded(let number, _)): number == starts
      default: false
      }
    }
    return ended ? nil : starts
  }

  private var name: String? {
    var name: String?
    for line in history {
      if case .input(.named(let other, let isNewLoop)) = line.entry, name == nil || isNewLoop { name = other }
    }
    return name
  }

  private var isPaused: Bool {
    history.last { $0.entry == .input(.pause) || $0.entry == .input(.resume) }?.entry == .input(.pause)
  }

  private var isAsleep: Bool {
    var since: Double?
    for line in history {
      if let began = since, line.awake >= began + 60 { since = nil }
      switch line.entry {
      case .input(.sleep): since = since ?? line.awake
      case .input(.wake), .suspended, .restarted: since = nil
      default: break
      }
    }
    return since.map { now.awake < $0 + 60 } ?? false
  }

  /// The metres and the time of the latest accurate fix, unless a later entry made it invalid.
  private func latestFix(before index: Int) -> (metres: Double, time: Double)? {
    for line in history[..<index].reversed() {
      switch line.entry {
      case .fix(let metres?): return (metres, line.time)
      case .input(.fix), .input(.stalled), .suspended, .restarted: return nil
      default: break
      }
    }
    return nil
  }

  /// The words about the latest link since the start of the process, if it is not a mobile network's.
  private var otherLink: String? {
    for line in history.reversed() {
      switch line.entry {
      case .input(.link(let words)): return words
      case .restarted: return nil
      default: break
      }
    }
    return nil
  }

  private func place(before index: Int, at time: Double) -> Double? {
    latestFix(before: index).flatMap { time - $0.time <= 10 ? $0.metres : nil }
  }

  private var isDue: Bool {
    guard let start else { return true }
    if let every, now.time - start.time >= every { return true }
    guard let distance, let from = place(before: startIndex, at: start.time) else { return false }
    return history[startIndex...].contains { line in
      if case .fix(let metres?) = line.entry { abs(metres - from) >= distance } else { false }
    }
  }

  private var hold: LoopHold? {
    if isPaused || isAsleep { return .inactive }
    if otherLink != nil, !allowsOtherLinks { return .otherLink }
    if distance != nil, place(before: history.count, at: now.time) == nil { return .noFix }
    if let monthLimit, used(prefix: 7) >= monthLimit { return .monthLimit }
    if let dayLimit, used(prefix: 10) >= dayLimit { return .dayLimit }
    return nil
  }

  private func wasNoticed(_ hold: LoopHold) -> Bool {
    history[max(0, startIndex)...].contains {
      if case .output(.notice(let notice)) = $0.entry { notice.hold == hold } else { false }
    }
  }

  private var lastNotice: Double? {
    history.last { if case .output(.notice) = $0.entry { true } else { false } }?.time
  }

  private func notice(of hold: LoopHold) -> LoopNotice {
    let isMonth = hold == .monthLimit
    return LoopNotice(
      number: starts + 1, hold: hold, used: used(prefix: isMonth ? 7 : 10),
      limit: (isMonth ? monthLimit : dayLimit) ?? 0, isDateKnown: now.wall != nil,
      otherLink: hold == .otherLink ? otherLink : nil)
  }

  // MARK: Bytes

  private static func bytes(_ line: Line) -> Int64? {
    switch line.entry {
    case .input(.traffic(let bytes)), .charged(let bytes): bytes
    default: nil
    }
  }

  /// The bytes between the start of a test and its end.
  private func bytes(ofTest number: Int) -> Int64 {
    var sum: Int64 = 0
    var isInside = false
    for line in history {
      switch line.entry {
      case .output(.startTest(number, _)): isInside = true
      case .output(.abortTest), .input(.testEnded(number, _)): if isInside { return sum }
      default: if isInside { sum += Self.bytes(line) ?? 0 }
      }
    }
    return sum
  }

  /// The largest test that ended, unless a restart interrupted it: its bytes are then unknown.
  private var largestTest: Int64? {
    let sizes = (1..<max(1, starts)).filter { number in
      !history.contains { $0.entry == .output(.abortTest(number: number, .restarted)) }
    }.map { bytes(ofTest: $0) }
    return sizes.max().flatMap { $0 > 0 ? $0 : nil }
  }

  /// The bytes in the present day (the first 10 characters of the date) or month (the first 7). Bytes without a date
  /// belong to the next line with a date.
  private func used(prefix: Int) -> Int64 {
    var dated: [(date: String, bytes: Int64)] = []
    var undated: Int64 = 0
    for line in history + [now] {
      undated += Self.bytes(line) ?? 0
      if let wall = line.wall, undated > 0 {
        dated.append((Self.date(wall), undated))
        undated = 0
      }
    }
    guard let today = now.wall.map(Self.date) ?? dated.map(\.date).max() else { return undated }
    return undated + dated.filter { $0.date.prefix(prefix) == today.prefix(prefix) }.reduce(0) { $0 + $1.bytes }
  }

  private static func date(_ wall: WallTime) -> String {
    Date(timeIntervalSince1970: Double(wall.microseconds) / 1e6).formatted(.iso8601)
  }
}

extension LoopEffect {
  var isAbort: Bool { if case .abortTest = self { true } else { false } }
}

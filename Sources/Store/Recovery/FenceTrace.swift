import Coverage

/// The way from a stored fence back to its evidence: a drive log is replayed, and the lines that made one fence are found (docs/drive-log.md).
public struct FenceTrace: Sendable {
  /// The line whose position opened the fence, from 1.
  public let first: Line
  /// The line that ended the fence; `nil` when the log ends before.
  public private(set) var last: Line?
  /// The numbers of all lines whose events happened in the fence, in order. A position is written after pings that were sent since it arrived,
  /// and a verdict can come after the fence's end: such lines are before the first and behind the last one.
  public private(set) var lines: [Int] = []
  /// The fence as the log gives it again.
  public private(set) var fence: Fence
  /// The number of lines of the log that cannot be read.
  public private(set) var unreadable = 0

  /// A line of a log.
  public struct Line: Hashable, Sendable {
    /// From 1; the header is line 1.
    public let number: Int
    /// Without its line end.
    public let text: String

    init(_ number: Int, _ line: ArraySlice<UInt8>) {
      (self.number, text) = (number, String(decoding: line, as: UTF8.self))
    }
  }

  /// Replays the log, which is read in pieces.
  /// - Parameter stored: A fence of the drive. It is recognised by its place and its beginning: numbers can differ in a log that was damaged.
  /// - Returns: `nil` when the log does not give a fence that begins there.
  /// - Throws: ``DriveLogError``
  public init?(of stored: Fence, in log: LoggedPositions) throws {
    var engine = Engine(parameters: log.header.engineParameters, path: log.header.initialPath)
    var (trace, seen): (FenceTrace?, Int) = (nil, 0)
    var lines: [Int] = []
    let time = stored.entered...max(stored.entered, stored.exited ?? DriveTime(microseconds: .max))
    let unreadable = try log.forEachLine { number, line, event in
      guard let event else { return true }
      if time.contains(event.at) { lines.append(number) }
      let effects = engine.handle(event)
      for fence in engine.fences[seen...]
      where trace == nil && fence.entered == stored.entered && fence.centre == stored.centre {
        trace = FenceTrace(fence, opened: Line(number, line))
      }
      seen = engine.fences.count
      trace?.apply(effects) { Line(number, line) }
      return true
    }
    trace?.apply(engine.handle(Event(at: engine.now, .stop(.endOfLog)))) { nil }
    guard var trace else { return nil }
    (trace.lines, trace.unreadable) = (lines, unreadable)
    self = trace
  }

  private init(_ fence: Fence, opened: Line) { (self.fence, first) = (fence, opened) }

  private mutating func apply(_ effects: [Effect], _ line: () -> Line?) {
    for effect in effects {
      switch effect {
      case .fenceClosed(let changed) where changed.number == fence.number: (fence, last) = (changed, line())
      case .fenceRevised(let changed) where changed.number == fence.number: fence = changed
      default: break
      }
    }
  }
}

extension RecordedDrive {
  /// The ended fences that the log gives again, with all figures; without those of sessions that were forgotten on command.
  public func replayedFences() -> [Fence] {
    var engine = Engine(parameters: header.engineParameters, path: header.initialPath)
    for event in events { _ = engine.handle(event) }
    _ = engine.handle(Event(at: engine.now, .stop(.endOfLog)))
    return engine.fences.filter { $0.exited != nil && !forgotten.contains($0.session) }
  }
}

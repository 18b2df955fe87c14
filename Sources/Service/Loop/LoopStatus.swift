import OrderedJSON
import SpeedTest

/// The loop of speed tests beside the service's drives, for `status`.
struct LoopStatus: Hashable, Sendable {
  /// The raw values appear in `status --json`.
  enum State: String, Hashable, Sendable {
    case testing, waiting, due, paused, ended
  }

  private let memory: LoopMemory
  /// Tests of the whole loop.
  private let count: Int

  init(_ memory: LoopMemory, of count: Int) { (self.memory, self.count) = (memory, count) }

  var state: State {
    switch memory.stage {
    case .testing: .testing
    case .ended: .ended
    case .waiting: memory.isPaused ? .paused : memory.isDue ? .due : .waiting
    }
  }

  /// Whether the next test starts as soon as it may.
  private var isDue: Bool { memory.stage == .waiting && memory.isDue }
  /// Tests that have started.
  private var made: Int { memory.number }
  private var tally: LoopTally { memory.tally }

  var line: String {
    let what =
      switch state {
      case .testing: "test \(made) of \(count) is running"
      case .waiting: "\(made) of \(count) made, the next one is not due yet"
      case .due: "\(made) of \(count) made, the next one is due"
      case .paused: "\(made) of \(count) made, paused\(isDue ? ", the next one is due" : "")"
      case .ended: "\(made) of \(count) made, over"
      }
    return "speed tests: \(what); \(tally.completed) completed, \(tally.failed) failed, \(tally.aborted) aborted"
  }

  var json: JSON {
    .object([
      "state": .string(state.rawValue), "due": .bool(isDue), "made": .integer(Int64(made)),
      "of": .integer(Int64(count)),
      "completed": .integer(Int64(tally.completed)), "failed": .integer(Int64(tally.failed)),
      "aborted": .integer(Int64(tally.aborted)), "line": .string(line),
    ])
  }
}

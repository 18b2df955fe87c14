import ArgumentParser
import Coverage
import Glibc
import OrderedJSON
import Store

/// The part of tools/bench-engine that must be Swift.
@main
struct BenchEngineDrive: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-engine-drive",
    abstract: "Drives that are made up, for the engine alone and as drive logs (see tools/bench-engine).",
    subcommands: [EngineAlone.self, WriteLog.self])
}

/// Times only the engine: the drive is made before.
private struct EngineAlone: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "engine", abstract: "Hands drives to an engine and prints how long that took, as JSON.")

  @Option(help: "At least so many events.") var events = 10_000_000
  @Option(help: "The length of each drive.") var hours = 4

  func validate() throws {
    guard (1...1_000_000_000).contains(events), (1...300).contains(hours) else {
      throw ValidationError("--events takes 1 to 1000000000, --hours 1 to 300.")
    }
  }

  func run() throws {
    let drive = SimulatedDrive(hours: hours)
    let rounds = (events + drive.events.count - 1) / drive.events.count
    var (fences, effects) = (0, 0)
    let cpuBefore = clock()
    let taken = ContinuousClock().measure {
      for _ in 0..<rounds {
        var engine = Engine(parameters: drive.parameters)
        for event in drive.events { effects += engine.handle(event).count }
        fences += engine.fences.count
      }
    }
    let cpuTaken = Double(clock() - cpuBefore) / Double(CLOCKS_PER_SEC)
    print(
      JSON.object([
        "events": .integer(Int64(rounds * drive.events.count)), "seconds": .number(taken.inSeconds),
        "cpu_seconds": .number(cpuTaken), "drive_hours": .integer(Int64(rounds * hours)),
        "fences": .integer(Int64(fences)), "fence_bytes": .integer(Int64(MemoryLayout<Fence>.stride)),
        "effects": .integer(Int64(effects)),
      ]).text)
  }
}

private struct WriteLog: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "Writes a drive log, by the writer that a drive uses.")

  @Option(help: "The length of the drive.") var hours = 1
  @Option(help: "When it begins, in seconds since the epoch.") var start: Int64 = 1_795_168_800
  @Argument(help: "A file that is not there yet.") var path: String

  func validate() throws {
    guard (1...300).contains(hours), (0...9_000_000_000).contains(start) else {
      throw ValidationError("--hours takes 1 to 300, --start 0 to 9000000000.")
    }
  }

  func run() throws {
    let drive = SimulatedDrive(hours: hours)
    let header = DriveLogHeader(
      started: WallTime(microseconds: start * 1_000_000), initialPath: .cellular, parameters: drive.parameters,
      pings: .init(interval: .milliseconds(100), timeout: .seconds(1)))
    let writer = try DriveLogWriter(path: path, header: header)
    for (number, event) in drive.events.enumerated() {
      try writer.append(event, beside: Self.details(event, number))
      // As often as a drive writes its open fence.
      if number % 44 == 43 { try writer.seal(at: event.at) }
    }
    try writer.seal(at: drive.events.last?.at ?? .start)
    try writer.sync()
  }

  /// The details that a drive logs beside its events.
  private static func details(_ event: Event, _ number: Int) -> [JSON.Member] {
    switch event.kind {
    case .fix: [.init("accuracy_source", "eph")]
    case .ping: [.init("sequence", .integer(Int64(UInt32(truncatingIfNeeded: number &+ 2_476_179_288))))]
    default: []
    }
  }
}

import ArgumentParser
import Service
import Settings
import SpeedTest

struct LoopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "loop",
    abstract: "Repeats speed tests along the way.",
    discussion: """
      The first test starts at once; the next one is due when the time has passed OR the distance is reached, both since the \
      start of the one before. A loop that an earlier process left unfinished goes on (loop.after-restart). SIGINT ends the \
      loop. Results are stored and sent as fences are. Docs: docs/loop.md.
      Exit status: 0; 1 when no test had a result; 69 when none was made; 75 when results are \
      stored and could not be sent now.
      """)

  @OptionGroup var configuration: ConfigurationOptions

  @Option(help: "Tests of the loop, 1 to 500, failed and aborted ones included (setting loop.count).")
  var count: Int?

  @Option(
    parsing: .unconditional, help: "Time from the start of a test to the next one, 5m to 1d, or none (loop.every).")
  var every: String?

  @Option(
    parsing: .unconditional,
    help: "Metres from the start of a test to the next one, 25 to 10000, or none (loop.distance).")
  var distance: String?

  @Flag(name: .customLong("new"), help: "Begin a new loop, even if an earlier one is not over.")
  var isNew = false

  @Flag(name: .long, help: "Store the results only; send them later with `coverage-probe submit`.")
  var noSubmit = false

  mutating func validate() throws {
    if let count, !LoopRules.counts.contains(count) { throw ValidationError("--count is \(count): expected 1 to 500.") }
    if let every, every != "none", DurationText.duration(every).map(LoopRules.waits.contains) != true {
      throw ValidationError("--every is \"\(every)\": expected a duration such as 15m, from 5m to 1d, or none.")
    }
    if let distance, distance != "none", Double(distance).map(LoopRules.distances.contains) != true {
      throw ValidationError("--distance is \"\(distance)\": expected metres, 25 to 10000, or none.")
    }
  }

  func run() async throws {
    try await Terminal.run {
      let configuration = try configuration.load()
      let rules = try configuration.loopRules { settings in
        if let count { settings.count = count }
        if let every { settings.every = every == "none" ? nil : DurationText.duration(every) }
        if let distance { settings.distance = distance == "none" ? nil : Double(distance) }
      }
      let loop = LoopTesting(
        configuration: configuration, rules: rules, isNew: isNew, submits: !noSubmit, logger: Terminal.logger())
      return try await loop.run(
        stop: await Terminal.stopSignals(), show: SpeedTestCommand.liveLine,
        print: { line in
          LiveArea.end()
          Terminal.result(line)
        })
    }
  }
}

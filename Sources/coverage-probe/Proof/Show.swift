import ArgumentParser
import Service
import Store

struct Show: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the evidence of a fence: its row, its drive log, and the lines that made it.",
    discussion: """
      Replays the drive log and compares. Exit status: 0 when the log gives the same fence again; 1 when it gives another one, when the \
      log is missing, and when there is no such fence; 64 wrong usage.
      """)

  @OptionGroup var configuration: ConfigurationOptions

  @Argument(
    help: ArgumentHelp("The id of a fence, as exports have it, or SESSION:NUMBER.", valueName: "fence"),
    transform: { text in
      guard let name = FenceName(text) else {
        throw ValidationError("expected ID or SESSION:NUMBER, such as 12 or 3:0.")
      }
      return name
    })
  var fence: FenceName

  @Flag(name: .long, help: "Print all lines of the drive log that lie in the time of the fence.")
  var lines = false

  @Flag(name: .long, help: "As a JSON object.")
  var json = false

  mutating func validate() throws {
    if json, lines {
      throw ValidationError("--json and --lines exclude each other: the JSON has the numbers of the lines.")
    }
  }

  func run() async throws {
    try await Terminal.run {
      let showing = try Showing(configuration: try configuration.load(), fence: fence)
      if json {
        Terminal.result(showing.json)
      } else {
        try showing.write(isComplete: lines, Terminal.result)
      }
      guard let doubt = showing.doubt else { return .done }
      throw CommandFailure(doubt)
    }
  }
}

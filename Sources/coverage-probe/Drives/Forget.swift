import ArgumentParser
import Service

struct Forget: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Deletes a session with its fences permanently, or a speed test; sent or not.",
    discussion: """
      The last session of a drive takes the drive log with it. The server keeps fences and results that were sent.
      """)

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(help: "Delete a speed test: ID is its id, as `sessions --speed-tests` lists it.")
  var speedTest = false

  @Argument(help: "The id of the session, as `sessions` lists it.")
  var id: Int64

  func run() async throws {
    try await Terminal.run {
      let forgetting = Forgetting(
        configuration: try configuration.load(), speedTest ? .speedTest(id) : .session(id), logger: Terminal.logger())
      return try await forgetting.run(print: Terminal.result)
    }
  }
}

import Agent
import ArgumentParser

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the state of the service.",
    discussion: "Exit status: 0 when the service answers, 1 when there is none.")

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(name: .long, help: "As one JSON object.")
  var json = false

  @Flag(name: .long, help: "As metrics in the Prometheus text format.")
  var metrics = false

  mutating func validate() throws {
    if json, metrics { throw ValidationError("--json and --metrics exclude each other.") }
  }

  func run() async throws {
    try await Terminal.run {
      let client = ServiceClient(configuration: try configuration.load())
      Terminal.result(
        metrics ? try await client.metrics() : try await client.statusWithPortHolders(asJSON: json))
      return .done
    }
  }
}

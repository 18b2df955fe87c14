import Agent
import ArgumentParser

struct Sessions: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the stored sessions with state and counts.", subcommands: [Forget.self])

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(name: .long, help: "As a JSON array, oldest first.")
  var json = false

  func run() async throws {
    try await Terminal.run {
      let listing = try SessionListing(configuration: try configuration.load())
      Terminal.result(json ? listing.json : listing.table)
      return .done
    }
  }
}

import ArgumentParser
import Service

struct Sessions: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the stored sessions and speed tests with state and counts.", subcommands: [Forget.self])

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(name: .long, help: "As a JSON array, oldest first.")
  var json = false

  @Flag(name: .long, help: "List the speed tests instead.")
  var speedTests = false

  func run() async throws {
    try await Terminal.run {
      let configuration = try configuration.load()
      let tests = try SpeedTestListing(configuration: configuration)
      guard !speedTests else {
        Terminal.result(json ? tests.json : tests.table ?? "no speed tests stored")
        return .done
      }
      let listing = try SessionListing(configuration: configuration)
      Terminal.result(json ? listing.json : listing.table)
      if !json, let table = tests.table { Terminal.result("\n" + table) }
      return .done
    }
  }
}

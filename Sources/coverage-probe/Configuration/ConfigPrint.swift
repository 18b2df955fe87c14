import ArgumentParser
import Service
import Settings

struct ConfigPrint: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "print",
    abstract: "Prints every setting with its value and where that is from.",
    discussion:
      "The output can be used as a configuration file. A password in a URL and the places of exclusion zones are hidden. A setting with a mistake has its default; the mistakes go to standard error, with status 1."
  )

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(
    name: .long, help: "As a JSON array: key, value, default, origin, variable, and the file if that is the origin.")
  var json = false

  func run() async throws {
    try await Terminal.run {
      let reading = ConfigurationReading(file: configuration.file)
      let listing = ConfigurationListing(reading)
      Terminal.result(json ? listing.json : listing.yaml)
      for mistake in reading.mistakes { Terminal.complain(mistake) }
      return reading.mistakes.isEmpty ? .done : .failed
    }
  }
}

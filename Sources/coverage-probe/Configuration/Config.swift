import ArgumentParser
import Service
import Settings

struct Config: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks and prints the configuration.", subcommands: [ConfigCheck.self, ConfigPrint.self])
}

struct ConfigCheck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Reads the configuration and lists every mistake in it.",
    discussion:
      "It looks at names and values only; nothing is connected to. Exit status: 0 without a mistake, otherwise 1.")

  @OptionGroup var configuration: ConfigurationOptions

  func run() async throws {
    try await Terminal.run {
      let reading = ConfigurationReading(file: configuration.file)
      for mistake in reading.mistakes { Terminal.complain(mistake) }
      guard reading.mistakes.isEmpty else { return .failed }
      Terminal.result(reading.summary)
      return .done
    }
  }
}

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

/// `--config F`, the same for all commands.
struct ConfigurationOptions: ParsableArguments {
  @Option(
    name: .long,
    help:
      "The configuration, a YAML file; conf.d/*.yaml beside it wins over it, and the environment over both. Default: \(ConfigurationFiles.installed), if it exists.",
    completion: .file(extensions: ["yaml", "yml"]))
  var config: String?

  /// The file to read; `nil` for none. An installed file that this user may not read is an error when it is read.
  var file: String? { config ?? ConfigurationFiles.found }

  /// - Throws: The first ``ConfigurationError`` of the file and the environment.
  func load() throws -> ProbeConfiguration { try ProbeConfiguration.load(file: file) }
}

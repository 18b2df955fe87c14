import ArgumentParser
import Settings

/// `--config F`, the same for all commands.
struct ConfigurationOptions: ParsableArguments {
  @Option(name: .long, help: "The configuration, a YAML file; the environment wins over it.")
  var config: String?

  func load() throws -> ProbeConfiguration { try ProbeConfiguration.load(file: config) }
}

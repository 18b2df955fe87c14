import ArgumentParser
import Settings

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

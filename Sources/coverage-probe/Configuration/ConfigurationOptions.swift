import ArgumentParser
import Glibc
import Settings

/// `--config F`, the same for all commands.
struct ConfigurationOptions: ParsableArguments {
  /// The file of the Debian package.
  private static let installed = "/etc/coverage-probe/config.yaml"

  @Option(
    name: .long,
    help: "The configuration, a YAML file; the environment wins over it. Default: \(installed), if it exists.")
  var config: String?

  /// The file to read; `nil` for none. An installed file that this user may not read is an error when it is read.
  var file: String? { config ?? (access(Self.installed, F_OK) == 0 ? Self.installed : nil) }

  /// - Throws: The first ``ConfigurationError`` of the file and the environment.
  func load() throws -> ProbeConfiguration { try ProbeConfiguration.load(file: file) }
}
